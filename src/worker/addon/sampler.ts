/** From a job's sampling options to llama.cpp's sampler chain: bias, penalties, top-k, top-p, min-p, temperature. */
import { randomInt } from 'node:crypto';
import { SAMPLING_DEFAULTS } from '../../contract/defaults.ts';
import type { Sampling } from '../../contract/job.ts';
import type { NativeSamplerConfig } from './internals.ts';

/** llama.cpp reads this seed as "take one from the random device", so a job that names it gets its neighbour. */
const RANDOM_DEVICE_SEED = 0xffffffff;
/** A bias of -100 means never (the convention of the wire); in llama.cpp only minus infinity does. */
const FORBIDDEN_BIAS = -100;

export interface SamplerState {
  readonly seed: number;
  /** Prompt and answer so far: what penalties look back on. */
  readonly recentTokens: readonly number[];
  readonly numCtx: number;
}

export function samplerConfig(sampling: Sampling, state: SamplerState): NativeSamplerConfig {
  const chosen = { ...SAMPLING_DEFAULTS, ...sampling };
  const config: NativeSamplerConfig = {
    temperature: chosen.temperature,
    seed: state.seed,
    minP: chosen.minP,
  };
  // An absent member leaves the sampler out of the chain, which is both exact and faster than a neutral value.
  if (chosen.topK > 0) config.topK = chosen.topK;
  if (chosen.topP < 1) config.topP = chosen.topP;
  addPenalties(config, chosen, state);
  addBias(config, sampling.logitBias);
  return config;
}

/** The seed of a job, or a random one. */
export function seedOf(seed: number | undefined): number {
  if (seed === undefined) return randomInt(RANDOM_DEVICE_SEED);
  return seed === RANDOM_DEVICE_SEED ? RANDOM_DEVICE_SEED - 1 : seed;
}

function addPenalties(
  config: NativeSamplerConfig,
  chosen: typeof SAMPLING_DEFAULTS,
  state: SamplerState,
): void {
  const off = chosen.repeatPenalty === 1 && chosen.presencePenalty === 0 && chosen.frequencyPenalty === 0;
  if (off || chosen.repeatLastN === 0) return;
  config.repeatPenalty = chosen.repeatPenalty;
  config.repeatPenaltyPresencePenalty = chosen.presencePenalty;
  config.repeatPenaltyFrequencyPenalty = chosen.frequencyPenalty;
  // The library allocates what it is told, and no more than the window can ever be looked back on.
  const lookBack = Math.min(chosen.repeatLastN, state.numCtx);
  config.repeatPenaltyMaxTokens = lookBack;
  config.repeatPenaltyTokens = Uint32Array.from(state.recentTokens.slice(-lookBack));
}

function addBias(config: NativeSamplerConfig, bias: Sampling['logitBias']): void {
  if (bias === undefined || bias.length === 0) return;
  config.tokenBiasKeys = Uint32Array.from(bias, ([token]) => token);
  config.tokenBiasValues = Float32Array.from(bias, ([, value]) =>
    value <= FORBIDDEN_BIAS ? Number.NEGATIVE_INFINITY : value,
  );
}
