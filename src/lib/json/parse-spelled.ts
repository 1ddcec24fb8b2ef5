export * from '../../../packages/exact-json/src/parse-spelled.ts';
