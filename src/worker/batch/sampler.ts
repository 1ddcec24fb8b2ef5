/** From a job's sampling options to the sampler chain. */
import { randomInt } from 'node:crypto';
import { SAMPLING_DEFAULTS } from '../../contract/defaults.ts';
import type { Sampling } from '../../contract/job.ts';
import type { NativeGrammar, Penalties, SamplerConfig } from '../addon/native.ts';

/** llama.cpp reads this seed as "take one from the random device", so a job that names it gets its neighbour. */
const RANDOM_DEVICE_SEED = 0xffffffff;
/** A bias of -100 means never (the convention of the wire); in llama.cpp only minus infinity does. */
const FORBIDDEN_BIAS = -100;

/** A chain that changes no logit; at temperature 1 it draws, at 0 it takes the largest. */
export const NEUTRAL: SamplerConfig = {
  grammar: null,
  bias: null,
  penalties: null,
  topK: null,
  topP: null,
  minP: null,
  temperature: 1,
  seed: 0,
};

export interface SamplerState {
  readonly grammar: NativeGrammar | null;
  readonly seed: number;
  /** Prompt and answer so far: what penalties look back on. */
  readonly recentTokens: readonly number[];
  readonly numCtx: number;
}

/** Leaving a sampler out of the chain is both exact and faster than a neutral value. */
export function samplerConfig(sampling: Sampling, state: SamplerState): SamplerConfig {
  const chosen = { ...SAMPLING_DEFAULTS, ...sampling };
  return {
    grammar: state.grammar,
    bias: biasOf(sampling.logitBias),
    penalties: penaltiesOf(chosen, state),
    topK: chosen.topK > 0 ? chosen.topK : null,
    topP: chosen.topP < 1 ? chosen.topP : null,
    minP: chosen.minP > 0 ? chosen.minP : null,
    temperature: chosen.temperature,
    seed: state.seed,
  };
}

/** The seed of a job, or a random one. */
export function seedOf(seed: number | undefined): number {
  if (seed === undefined) return randomInt(RANDOM_DEVICE_SEED);
  return seed === RANDOM_DEVICE_SEED ? RANDOM_DEVICE_SEED - 1 : seed;
}

function penaltiesOf(chosen: typeof SAMPLING_DEFAULTS, state: SamplerState): Penalties | null {
  const { repeatPenalty, presencePenalty, frequencyPenalty, repeatLastN } = chosen;
  const off = repeatPenalty === 1 && presencePenalty === 0 && frequencyPenalty === 0;
  if (off || repeatLastN === 0) return null;
  // The library allocates what it is told, and no more than the window can ever be looked back on.
  const lookBack = Math.min(repeatLastN, state.numCtx);
  return {
    repeat: repeatPenalty,
    presence: presencePenalty,
    frequency: frequencyPenalty,
    recentTokens: Uint32Array.from(state.recentTokens.slice(-lookBack)),
    lookBack,
  };
}

function biasOf(bias: Sampling['logitBias']): SamplerConfig['bias'] {
  if (bias === undefined || bias.length === 0) return null;
  return {
    tokens: Uint32Array.from(bias, ([token]) => token),
    values: Float32Array.from(bias, ([, value]) =>
      value <= FORBIDDEN_BIAS ? Number.NEGATIVE_INFINITY : value,
    ),
  };
}
