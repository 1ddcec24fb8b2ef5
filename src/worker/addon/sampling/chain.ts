/**
 * worker/addon/sampling owns the choice of a token from a row of logits: the sampler chain, the candidates, the
 * grammar. It knows nothing of streams or of the meaning of an answer. This file maps sampling options to llama.cpp's
 * samplers: which are in the chain, their order, and their parameters.
 */
import { LEAST_PENALTY, LEAST_TEMPERATURE } from '../../../contract/sampling.ts';
import { SAMPLING_DEFAULTS, type Sampling } from '../../../contract/sampling-shapes.ts';
import type { Pointer } from '../library/layouts.ts';
import type { Library } from '../library/open.ts';
import type { SamplerConfig } from '../../native.ts';

/** A bias of -100 means never (the convention of the wire); in llama.cpp only minus infinity does. */
const FORBIDDEN_BIAS = -100;
const MIN_KEEP = 1;
const BIAS_BYTES = 8;

type Chosen = typeof SAMPLING_DEFAULTS & Sampling;
type ChainConfig = Omit<SamplerConfig, 'grammar' | 'allCandidates'>;
type State = Omit<ChainConfig, 'sampling'>;

export interface SamplerStep {
  readonly name: string;
  /** Two steps with equal keys are the same sampler; its random state continues when a chain is rebuilt. */
  readonly key: string;
  open(library: Library, vocabularySize: number): Pointer;
}

interface ChainEntry {
  readonly name: string;
  readonly isIn: (chosen: Chosen) => boolean;
  readonly step: (chosen: Chosen, state: State) => Omit<SamplerStep, 'name'>;
}

const isRandom = ({ temperature }: Chosen): boolean => temperature >= LEAST_TEMPERATURE;

function entry(name: string, isIn: ChainEntry['isIn'], step: ChainEntry['step']): ChainEntry {
  return { name, isIn, step };
}

/** In the order in which they see the logits. A neutral option leaves its sampler out: exact, and faster. */
const CHAIN: readonly ChainEntry[] = [
  entry(
    'logit_bias',
    ({ logitBias = [] }) => logitBias.length > 0,
    ({ logitBias = [] }) => ({
      key: JSON.stringify(logitBias),
      open: (library, size) =>
        library.llama_sampler_init_logit_bias(size, logitBias.length, biasBytes(logitBias)),
    }),
  ),
  entry('penalties', penalises, (chosen, state) => ({
    // The look-back moves with every token, so it is never the same sampler.
    key: '',
    open: (library, size) => openPenalties(library, size, { chosen, state }),
  })),
  entry(
    'top_n_sigma',
    (chosen) => isRandom(chosen) && chosen.topNSigma > 0,
    ({ topNSigma }) => ({
      key: String(topNSigma),
      open: (library) => library.llama_sampler_init_top_n_sigma(topNSigma),
    }),
  ),
  entry(
    'top_k',
    (chosen) => isRandom(chosen) && chosen.topK > 0,
    ({ topK }) => ({
      key: String(topK),
      open: (library, size) => library.llama_sampler_init_top_k(Math.min(topK, size)),
    }),
  ),
  entry(
    'typical_p',
    (chosen) => isRandom(chosen) && chosen.typicalP < 1,
    ({ typicalP }) => ({
      key: String(typicalP),
      open: (library) => library.llama_sampler_init_typical(typicalP, MIN_KEEP),
    }),
  ),
  entry(
    'top_p',
    (chosen) => isRandom(chosen) && chosen.topP < 1,
    ({ topP }) => ({
      key: String(topP),
      open: (library) => library.llama_sampler_init_top_p(topP, MIN_KEEP),
    }),
  ),
  entry(
    'min_p',
    (chosen) => isRandom(chosen) && chosen.minP > 0,
    ({ minP }) => ({
      key: String(minP),
      open: (library) => library.llama_sampler_init_min_p(minP, MIN_KEEP),
    }),
  ),
  entry(
    'xtc',
    (chosen) => isRandom(chosen) && chosen.xtcProbability > 0,
    ({ xtcProbability, xtcThreshold }, { seed }) => ({
      key: [xtcProbability, xtcThreshold, seed].join(' '),
      open: (library) => library.llama_sampler_init_xtc(xtcProbability, xtcThreshold, 0, seed),
    }),
  ),
  entry('temperature', isRandom, ({ temperature }) => ({
    key: String(temperature),
    open: (library) => library.llama_sampler_init_temp(temperature),
  })),
  entry('dist', isRandom, (_, { seed }) => ({
    key: String(seed),
    open: (library) => library.llama_sampler_init_dist(seed),
  })),
  // At temperature 0 the largest logit is chosen, and the samplers of the probability mass do not run.
  entry(
    'greedy',
    (chosen) => !isRandom(chosen),
    () => ({ key: '', open: (library) => library.llama_sampler_init_greedy() }),
  ),
];

export function samplerSteps({ sampling, ...state }: ChainConfig): SamplerStep[] {
  const chosen: Chosen = { ...SAMPLING_DEFAULTS, ...sampling };
  return CHAIN.filter(({ isIn }) => isIn(chosen)).map(({ name, step }) => ({ name, ...step(chosen, state) }));
}

export function samplersFor(sampling: Sampling): readonly string[] {
  const chosen: Chosen = { ...SAMPLING_DEFAULTS, ...sampling };
  return CHAIN.filter(({ isIn }) => isIn(chosen)).map(({ name }) => name);
}

export interface LookedAt {
  readonly largest: number;
  readonly biased: readonly number[];
}

/** Null means all tokens: other logits may become the largest. */
export function candidateTokens(sampling: Sampling, vocabularySize: number): LookedAt | null {
  const tokens = (sampling.logitBias ?? []).map(([token]) => token);
  const biased = tokens.filter((token) => token < vocabularySize);
  const [first] = samplersFor(sampling).filter((name) => name !== 'logit_bias');
  // Each biased token may yield its place among the largest to another.
  if (first === 'greedy') return { largest: 1 + biased.length, biased };
  if (first !== 'top_k') return null;
  return { largest: (sampling.topK ?? SAMPLING_DEFAULTS.topK) + biased.length, biased };
}

function penalises({ repeatPenalty, presencePenalty, frequencyPenalty, repeatLastN }: Chosen): boolean {
  return (repeatPenalty !== 1 || presencePenalty !== 0 || frequencyPenalty !== 0) && repeatLastN > 0;
}

function openPenalties(
  library: Library,
  size: number,
  { chosen, state }: { readonly chosen: Chosen; readonly state: State },
): Pointer {
  // The library allocates the requested size, and the window limits the look-back.
  const most = Math.min(chosen.repeatLastN, state.numCtx);
  const { repeatPenalty, frequencyPenalty, presencePenalty } = chosen;
  const sampler = library.llama_sampler_init_penalties(
    size,
    most,
    Math.max(LEAST_PENALTY, repeatPenalty),
    frequencyPenalty,
    presencePenalty,
  );
  for (const token of state.recentTokens.slice(-most)) library.llama_sampler_accept(sampler, token);
  return sampler;
}

function biasBytes(bias: NonNullable<Sampling['logitBias']>): Uint8Array {
  const bytes = new DataView(new ArrayBuffer(bias.length * BIAS_BYTES));
  for (const [at, [token, value]] of bias.entries()) {
    bytes.setInt32(at * BIAS_BYTES, token, true);
    const effective = value <= FORBIDDEN_BIAS ? Number.NEGATIVE_INFINITY : value;
    bytes.setFloat32(at * BIAS_BYTES + 4, effective, true);
  }
  return new Uint8Array(bytes.buffer);
}
