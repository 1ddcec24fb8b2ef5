/**
 * Every sampling option once. Request fields, defaults of a model, `hearth set`, jobs and the frozen-v1 record derive
 * from this table; the only other place that names each option is its native mapping
 * (worker/addon/sampling/chain.ts). It does not know how an option changes the choice of a token.
 */
import { type TSchema, Type } from 'typebox';

/**
 * Presence of an option in a frozen-v1 record.
 * - `decided`: always; if the request is silent, the mode decides and not the model.
 * - `stated`: always.
 * - `deviation`: only a value other than the default, so that records made before the option existed stay complete.
 * - `requested`: never, because the record contains the hash of the request.
 */
type Evidence = 'decided' | 'stated' | 'deviation' | 'requested';

/**
 * Each reach includes the options of the previous ones: Ollama through OpenAI's routes, OpenAI, vLLM and SGLang,
 * llama.cpp.
 */
export const SAMPLING_REACHES = ['plain', 'openai', 'servers', 'llama.cpp'] as const;
export type SamplingReach = (typeof SAMPLING_REACHES)[number];

export interface SamplingRow {
  /** Name in requests, `hearth set`, Ollama's parameters and records. */
  readonly wire: string;
  readonly meaning: string;
  /** Schema in jobs and, if `perModel`, in manifests: a manifest that was ever valid must stay valid. */
  readonly schema: TSchema;
  readonly request?: Readonly<Record<string, unknown>>;
  /** Converts a request's value to a job's value; undefined: like absent, null: unusable. */
  readonly read?: (asked: never) => unknown;
  readonly expects?: string;
  /** llama.cpp server's default. Without one, the native library decides. */
  readonly fallback?: number;
  readonly unset?: string;
  readonly perModel: boolean;
  readonly evidence: Evidence;
  /** Least capable engine type that accepts it; `here`: Hearth implements it for every engine. */
  readonly reach: SamplingReach | 'here';
  readonly serversName?: string;
  /** Ollama's different meaning of a number: its lower bound, and the fields it maps to here. */
  readonly ollama?: {
    readonly minimum: number;
    readonly read: (asked: number) => Readonly<Record<string, number>>;
  };
  /** Narrows the record's schema, because ranges are part of the request's schema only. */
  readonly recorded?: Readonly<Record<string, unknown>>;
}

const MOST_BIASES = 1024;
const MOST_BIAS = 100;
/** Names other than token ids are texts, which only the vocabulary can tokenise. */
const TOKEN_ID = /^\d{1,9}$/;

/** Keys are token ids or texts; in pairs, a number is an id and false forbids the token. */
type AskedBias = Readonly<Record<string, number>> | readonly (readonly unknown[])[];

interface Biases {
  readonly tokens: [id: number, bias: number][];
  readonly texts: [text: string, bias: number][];
}

function readBias(asked: AskedBias): Biases | null {
  const tokens = new Map<number, number>();
  const texts: Biases['texts'] = [];
  const pairs: readonly (readonly unknown[])[] = Array.isArray(asked) ? asked : namedBiases(asked);
  for (const [of, given] of pairs) {
    const bias = given === false ? -MOST_BIAS : given;
    if (typeof bias !== 'number' || !(Math.abs(bias) <= MOST_BIAS)) return null;
    if (typeof of === 'string' && of !== '') texts.push([of, bias]);
    else if (typeof of === 'number' && Number.isInteger(of) && of >= 0 && of < 1e9) tokens.set(of, bias);
    else return null;
  }
  return { tokens: [...tokens], texts };
}

const namedBiases = (asked: object): [of: number | string, bias: unknown][] =>
  Object.entries(asked).map(([name, bias]) => [TOKEN_ID.test(name) ? Number(name) : name, bias]);

const LOOK_BACK = 'How many tokens the penalties look back.';
const ALL_TOKENS = '0 means all tokens.';

/** llama.cpp reads this seed as "take one from the random device". */
export const RANDOM_DEVICE_SEED = 0xffffffff;

/**
 * Clients send 64-bit integers and the engine needs fewer bits. A double may be one step larger than the sent
 * integer.
 */
const LEAST_INT64 = -(2 ** 63);
const MOST_UINT64 = 2 ** 64;

/** The penalties allocate a ring of this number of tokens. */
const MOST_LOOK_BACK = 65_536;

const modulo32 = (asked: number): number => ((asked % 2 ** 32) + 2 ** 32) % 2 ** 32;

/** A factor nearer to 0 exceeds the precision of 32-bit logits. */
export const LEAST_PENALTY = 0.01;
/** A lower temperature has the same effect and is treated as greedy: the largest logit is certain to be chosen. */
export const LEAST_TEMPERATURE = 0.001;

export const SAMPLING = {
  temperature: {
    wire: 'temperature',
    meaning: 'How freely tokens are chosen: 0 always takes the likeliest one, larger values vary more.',
    schema: Type.Number({ minimum: 0, maximum: 100, description: 'Native option temperature; 0 is greedy.' }),
    fallback: 0.8,
    perModel: true,
    evidence: 'decided',
    reach: 'plain',
  },
  seed: {
    wire: 'seed',
    meaning: 'Start of the random numbers; the same seed makes the same choices.',
    schema: Type.Integer({ minimum: 0, maximum: RANDOM_DEVICE_SEED }),
    request: {
      type: 'integer',
      minimum: LEAST_INT64,
      maximum: MOST_UINT64,
      description: 'Any 64-bit integer, taken modulo 2^32; -1 is random.',
    },
    read: (asked: number) => (asked === -1 ? undefined : modulo32(asked)),
    perModel: true,
    evidence: 'decided',
    reach: 'plain',
    recorded: { maximum: RANDOM_DEVICE_SEED - 1 },
  },
  topK: {
    wire: 'top_k',
    meaning: 'Only this many of the likeliest tokens are candidates; 0 keeps all.',
    schema: Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1, description: ALL_TOKENS }),
    request: {
      type: 'integer',
      minimum: -1,
      maximum: MOST_UINT64,
      description: '0 and -1 mean all tokens; more than 2^31-1 is taken as that.',
    },
    read: (asked: number) => Math.min(Math.max(asked, 0), 2 ** 31 - 1),
    fallback: 40,
    perModel: true,
    evidence: 'stated',
    reach: 'servers',
  },
  topP: {
    wire: 'top_p',
    meaning: 'Only the likeliest tokens that together reach this probability are candidates; 1 keeps all.',
    schema: Type.Number({ minimum: 0, maximum: 1 }),
    fallback: 0.95,
    perModel: true,
    evidence: 'stated',
    reach: 'plain',
  },
  minP: {
    wire: 'min_p',
    meaning: 'Drops tokens less likely than this share of the likeliest one; 0 drops none.',
    schema: Type.Number({ minimum: 0, maximum: 1 }),
    fallback: 0.05,
    perModel: true,
    evidence: 'stated',
    reach: 'servers',
  },
  repeatPenalty: {
    wire: 'repeat_penalty',
    meaning: 'Makes tokens that already occurred less likely; 1 is no penalty.',
    schema: Type.Number({ minimum: 0, maximum: 100 }),
    request: {
      type: 'number',
      minimum: LEAST_PENALTY,
      maximum: 10,
      description: '1 is no penalty.',
    },
    fallback: 1,
    perModel: true,
    evidence: 'stated',
    reach: 'servers',
    serversName: 'repetition_penalty',
  },
  repeatLastN: {
    wire: 'repeat_last_n',
    meaning: 'How many tokens the penalties look back.',
    schema: Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1, description: LOOK_BACK }),
    request: {
      type: 'integer',
      minimum: -1,
      maximum: MOST_UINT64,
      description: `${LOOK_BACK} -1 and more than 65,536 mean 65,536.`,
    },
    read: (asked: number) => (asked < 0 ? MOST_LOOK_BACK : Math.min(asked, MOST_LOOK_BACK)),
    // In Ollama, 0 disables the penalties and -1 means all tokens.
    ollama: {
      minimum: -1,
      read: (asked: number) =>
        asked === 0
          ? { repeat_penalty: 1, presence_penalty: 0, frequency_penalty: 0 }
          : { repeat_last_n: asked },
    },
    fallback: 64,
    perModel: true,
    evidence: 'stated',
    reach: 'llama.cpp',
  },
  presencePenalty: {
    wire: 'presence_penalty',
    meaning: 'Lowers tokens that occurred at all; negative values favour them.',
    schema: Type.Number({ minimum: -2, maximum: 2 }),
    fallback: 0,
    perModel: true,
    evidence: 'stated',
    reach: 'plain',
  },
  frequencyPenalty: {
    wire: 'frequency_penalty',
    meaning: 'Lowers tokens by how often they occurred; negative values favour them.',
    schema: Type.Number({ minimum: -2, maximum: 2 }),
    fallback: 0,
    perModel: true,
    evidence: 'stated',
    reach: 'plain',
  },
  xtcProbability: {
    wire: 'xtc_probability',
    meaning: 'How often XTC drops the likeliest tokens, all above its threshold but one; 0 is never.',
    schema: Type.Number({
      minimum: 0,
      maximum: 1,
      description:
        'How often XTC drops every token above xtc_threshold but the least likely of them; 0 is never.',
    }),
    fallback: 0,
    perModel: true,
    evidence: 'deviation',
    reach: 'llama.cpp',
  },
  xtcThreshold: {
    wire: 'xtc_threshold',
    meaning: 'The probability above which XTC counts a token.',
    schema: Type.Number({
      minimum: 0,
      maximum: 0.5,
      description: 'The probability above which XTC counts a token.',
    }),
    fallback: 0.1,
    perModel: true,
    evidence: 'deviation',
    reach: 'llama.cpp',
  },
  typicalP: {
    wire: 'typical_p',
    meaning: 'Share of probability that locally typical sampling keeps; 1 keeps all.',
    schema: Type.Number({
      minimum: 0,
      maximum: 1,
      description: 'The share of probability kept by locally typical sampling; 1 keeps all.',
    }),
    fallback: 1,
    perModel: true,
    evidence: 'deviation',
    reach: 'llama.cpp',
  },
  topNSigma: {
    wire: 'top_n_sigma',
    meaning: 'Drops tokens this many standard deviations of the logits below the largest; 0 drops none.',
    schema: Type.Number({
      minimum: 0,
      maximum: 100,
      description: 'Drops tokens so many standard deviations of the logits below the largest; 0 drops none.',
    }),
    fallback: 0,
    perModel: true,
    evidence: 'deviation',
    reach: 'llama.cpp',
  },
  repetitionGuard: {
    wire: 'repetition_guard',
    meaning: 'Ends an answer that only repeats itself, after so many tokens; 0 lets it go on.',
    schema: Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1 }),
    request: {
      type: 'integer',
      minimum: 0,
      maximum: MOST_UINT64,
      description: 'Tokens of repetition after which the answer ends; 0 lets it go on.',
    },
    read: (asked: number) => Math.min(asked, 2 ** 31 - 1),
    fallback: 0,
    unset: '256; in frozen answers 0',
    perModel: true,
    evidence: 'deviation',
    reach: 'here',
  },
  callGuard: {
    wire: 'call_guard',
    meaning: 'Refuses a tool call that gave the same result so many times already; 0 lets it go on.',
    schema: Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1 }),
    request: {
      type: 'integer',
      minimum: 0,
      maximum: MOST_UINT64,
      description: 'Equal results after which the same tool call is refused; 0 lets it go on.',
    },
    read: (asked: number) => Math.min(asked, 2 ** 31 - 1),
    fallback: 0,
    unset: '5; in frozen answers 0',
    perModel: true,
    evidence: 'deviation',
    reach: 'here',
  },
  logitBias: {
    wire: 'logit_bias',
    meaning: 'Makes single tokens more or less likely.',
    /** Pairs of token id and additive bias in logits; -100 forbids the token. */
    schema: Type.Array(Type.Tuple([Type.Integer({ minimum: 0 }), Type.Number()])),
    request: {
      type: ['object', 'array'],
      maxProperties: MOST_BIASES,
      additionalProperties: { type: 'number', minimum: -MOST_BIAS, maximum: MOST_BIAS },
      maxItems: MOST_BIASES,
      items: { type: 'array', minItems: 2, maxItems: 2 },
      description:
        'Token id, or a text of which every token counts, to additive bias, -100 to 100. -100 forbids a token. Or a list of pairs, as llama-server takes it; false in place of a bias forbids.',
    },
    read: (asked: AskedBias) => {
      const read = readBias(asked);
      if (read === null) return null;
      return read.tokens.length > 0 ? read.tokens : undefined;
    },
    expects:
      'logit_bias must map token ids or texts to a bias from -100 to 100, or be a list of such pairs; a text must not be empty.',
    perModel: false,
    evidence: 'requested',
    reach: 'openai',
  },
} as const satisfies Readonly<Record<string, SamplingRow>>;

export function biasedTexts({
  logit_bias: asked,
}: {
  readonly logit_bias?: AskedBias | null;
}): [string, number][] {
  return (asked && readBias(asked)?.texts) ?? [];
}

/** A bias of `added` replaces an earlier bias of the same token. */
export function addBiases<S extends { logitBias?: [number, number][] }>(
  sampling: S,
  added: readonly (readonly [token: number, bias: number])[],
): S {
  return { ...sampling, logitBias: [...new Map([...(sampling.logitBias ?? []), ...added])] };
}

export function wireBiases(
  { logitBias = [] }: { readonly logitBias?: readonly (readonly [number, number])[] },
  texts: readonly (readonly [text: string, bias: number])[],
): Readonly<Record<string, Readonly<Record<string, number>>>> {
  return { logit_bias: Object.fromEntries([...logitBias, ...texts]) };
}
