/** The benchmark of a GPU by itself, for a machine that has no checkout: bench/gpu/pack.mjs bundles it. */
import { gpu } from './gpu.ts';

await gpu(process.argv.slice(2));
