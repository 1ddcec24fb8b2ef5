export * from '../../../packages/exact-json/src/spelled-numbers.ts';
