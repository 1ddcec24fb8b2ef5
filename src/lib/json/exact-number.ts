export * from '../../../packages/exact-json/src/exact-number.ts';
