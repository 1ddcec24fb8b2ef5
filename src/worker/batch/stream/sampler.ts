/** The seed of a job, and the chain of a sampler that only looks. */
import { randomInt } from 'node:crypto';
import { RANDOM_DEVICE_SEED } from '../../../contract/sampling.ts';
import type { Sampling } from '../../../contract/sampling-shapes.ts';
import type { SamplerConfig } from '../../addon/native.ts';

/** Options whose default is not neutral. */
const NEUTRAL: Sampling = { temperature: 1, topK: 0, topP: 1, minP: 0 };

/** A chain that changes no logit but as told; at temperature 1 it draws, at 0 it takes the largest. */
export function neutralBut(changes: Sampling): SamplerConfig {
  return { sampling: { ...NEUTRAL, ...changes }, seed: 0, grammar: null, recentTokens: [], numCtx: 1 };
}

/** The seed of a job, or a random one; a job that names the one of the random device gets its neighbour. */
export function seedOf(seed: number | undefined): number {
  if (seed === undefined) return randomInt(RANDOM_DEVICE_SEED);
  return seed === RANDOM_DEVICE_SEED ? RANDOM_DEVICE_SEED - 1 : seed;
}
