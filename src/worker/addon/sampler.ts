/** From sampling options to the addon's sampler chain: which members of its configuration each option sets. */
import { SAMPLING_DEFAULTS, type Sampling, type SamplingOption } from '../../contract/sampling-shapes.ts';
import type { SamplerConfig } from './native.ts';

/** A bias of -100 means never (the convention of the wire); in llama.cpp only minus infinity does. */
const FORBIDDEN_BIAS = -100;

/** What the addon reads. An absent member leaves its sampler out: that is exact, and faster than a neutral value. */
export interface AddonSamplerConfig {
  temperature: number;
  seed: number;
  topK?: number;
  topP?: number;
  minP?: number;
  repeatPenalty?: number;
  repeatPenaltyMaxTokens?: number;
  repeatPenaltyTokens?: Uint32Array;
  repeatPenaltyPresencePenalty?: number;
  repeatPenaltyFrequencyPenalty?: number;
  xtcProbability?: number;
  xtcThreshold?: number;
  tokenBiasKeys?: Uint32Array;
  tokenBiasValues?: Float32Array;
  grammarEvaluationState?: object;
}

type Chosen = typeof SAMPLING_DEFAULTS & Sampling;
type State = Omit<SamplerConfig, 'sampling' | 'grammar'>;
type Mapping = (chosen: Chosen, state: State) => Partial<AddonSamplerConfig>;

const MAPPINGS = {
  temperature: ({ temperature }) => ({ temperature }),
  seed: (_, { seed }) => ({ seed }),
  topK: ({ topK }) => (topK > 0 ? { topK } : {}),
  topP: ({ topP }) => (topP < 1 ? { topP } : {}),
  minP: ({ minP }) => (minP > 0 ? { minP } : {}),
  repeatPenalty: (chosen) => (penalises(chosen) ? { repeatPenalty: chosen.repeatPenalty } : {}),
  repeatLastN: (chosen, state) => (penalises(chosen) ? lookBack(chosen, state) : {}),
  presencePenalty: (chosen) =>
    penalises(chosen) ? { repeatPenaltyPresencePenalty: chosen.presencePenalty } : {},
  frequencyPenalty: (chosen) =>
    penalises(chosen) ? { repeatPenaltyFrequencyPenalty: chosen.frequencyPenalty } : {},
  xtcProbability: (chosen) => (excludes(chosen) ? { xtcProbability: chosen.xtcProbability } : {}),
  xtcThreshold: (chosen) => (excludes(chosen) ? { xtcThreshold: chosen.xtcThreshold } : {}),
  logitBias: ({ logitBias = [] }) => (logitBias.length > 0 ? biasOf(logitBias) : {}),
} satisfies Record<SamplingOption, Mapping>;

/** The samplers in the order in which the addon builds its chain, and when each is in it. */
const CHAIN: readonly (readonly [name: string, isIn: (config: AddonSamplerConfig) => boolean])[] = [
  ['logit_bias', (config) => config.tokenBiasKeys !== undefined],
  ['penalties', (config) => config.repeatPenaltyTokens !== undefined],
  ['top_k', (config) => isRandom(config) && config.topK !== undefined],
  ['top_p', (config) => isRandom(config) && config.topP !== undefined],
  ['min_p', (config) => isRandom(config) && config.minP !== undefined],
  ['xtc', (config) => isRandom(config) && config.xtcProbability !== undefined],
  ['temperature', isRandom],
  ['dist', isRandom],
  ['greedy', (config) => !isRandom(config)],
];

export function samplerConfig({ sampling, ...state }: Omit<SamplerConfig, 'grammar'>): AddonSamplerConfig {
  const chosen = { ...SAMPLING_DEFAULTS, ...sampling };
  const parts = Object.values(MAPPINGS).map((mapping: Mapping) => mapping(chosen, state));
  return Object.assign({ temperature: chosen.temperature, seed: state.seed }, ...parts);
}

/**
 * A chain that changes no logit. A greedy one needs no sort of the vocabulary; at temperature 1 a division by 1 leaves
 * the logits as they are, and what is drawn is thrown away.
 */
export function probeConfig(keeps: number | null): AddonSamplerConfig {
  return keeps === null ? { temperature: 0, seed: 0 } : { temperature: 1, seed: 0, topK: keeps };
}

export function samplersFor(sampling: Sampling): readonly string[] {
  const config = samplerConfig({ sampling, seed: 0, recentTokens: [], numCtx: 1 });
  return CHAIN.filter(([, isIn]) => isIn(config)).map(([name]) => name);
}

/** At temperature 0 the largest logit is chosen, and the samplers of the probability mass do not run. */
function isRandom({ temperature }: AddonSamplerConfig): boolean {
  return temperature > 0;
}

/** The addon would run XTC before a greedy choice too, which would then not be the largest logit. */
function excludes({ temperature, xtcProbability }: Chosen): boolean {
  return temperature > 0 && xtcProbability > 0;
}

function penalises({ repeatPenalty, presencePenalty, frequencyPenalty, repeatLastN }: Chosen): boolean {
  return (repeatPenalty !== 1 || presencePenalty !== 0 || frequencyPenalty !== 0) && repeatLastN > 0;
}

function lookBack({ repeatLastN }: Chosen, { recentTokens, numCtx }: State): Partial<AddonSamplerConfig> {
  // The library allocates what it is told, and no more than the window can ever be looked back on.
  const most = Math.min(repeatLastN, numCtx);
  return {
    repeatPenaltyMaxTokens: most,
    repeatPenaltyTokens: Uint32Array.from(recentTokens.slice(-most)),
  };
}

function biasOf(bias: NonNullable<Sampling['logitBias']>): Partial<AddonSamplerConfig> {
  return {
    tokenBiasKeys: Uint32Array.from(bias, ([token]) => token),
    tokenBiasValues: Float32Array.from(bias, ([, value]) =>
      value <= FORBIDDEN_BIAS ? Number.NEGATIVE_INFINITY : value,
    ),
  };
}
