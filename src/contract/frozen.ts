/**
 * The frozen lane in the engine's words: what a job pins, what the worker says it did, and a check of an answer.
 * A frozen run is repeatable bit for bit on the same backend bytes, CPU features and execution settings.
 */
import { type Static, Type } from 'typebox';
import { MOST_THREADS } from './limits.ts';
import { recordedShapes } from './sampling-shapes.ts';

const Sha256 = Type.String({ pattern: '^[0-9a-f]{64}$' });
const NullableNumber = Type.Union([Type.Number(), Type.Null()]);

/** Pins of a replay; a pin that cannot be honoured fails the job. */
export const FrozenPins = Type.Object({
  threads: Type.Union([Type.Integer({ minimum: 1, maximum: MOST_THREADS }), Type.Null()]),
  /** Window of the frozen context, tokens. */
  numCtx: Type.Union([Type.Integer({ minimum: 256 }), Type.Null()]),
  /** Base64 of little-endian u32 ids: these tokens are tested instead of new ones sampled. */
  claimedTokens: Type.Union([Type.String(), Type.Null()]),
  /** Largest distance of a claimed token below the first choice, in logits. */
  epsilon: Type.Number({ minimum: 0 }),
});
export type FrozenPins = Static<typeof FrozenPins>;

const FrozenPrompt = Type.Object({
  /** Hash of the chat template's text; null when the model has none and a fixed form was used. */
  templateSha256: Type.Union([Sha256, Type.Null()]),
  templateClockMs: Type.Integer(),
  renderedSha256: Sha256,
  /** Hash of the token ids as little-endian u32. */
  tokensSha256: Sha256,
  tokenCount: Type.Integer(),
  addBos: Type.Boolean(),
});

/** Execution settings; two runs are comparable only when all of this is equal. */
export const FrozenExec = Type.Object({
  numCtx: Type.Integer(),
  batchSize: Type.Integer(),
  microBatchSize: Type.Integer(),
  /** `exact`: in a slot of an exact load; absent: alone in a fresh context. */
  lane: Type.Optional(Type.Literal('exact')),
  sequences: Type.Integer({ minimum: 1 }),
  threads: Type.Integer(),
  threadsObserved: Type.Integer(),
  flashAttention: Type.Boolean(),
  typeK: Type.String(),
  typeV: Type.String(),
  gpuLayers: Type.Integer(),
  useMmap: Type.Boolean(),
  openMp: Type.Boolean(),
  repack: Type.Boolean(),
});
export type FrozenExec = Static<typeof FrozenExec>;

/** The CPU as the native library sees it, and which of its files are mapped. */
export const FrozenHost = Type.Object({
  pid: Type.Integer(),
  /** Native files of the bound folder; the inode tells whether it is the very file that was hashed. */
  mapped: Type.Array(Type.Object({ name: Type.String(), inode: Type.Union([Type.Integer(), Type.Null()]) })),
  cpuFeatures: Type.String(),
  libc: Type.String(),
  /** Native binding of the library; absent in records made before it was named. */
  binding: Type.Optional(Type.Object({ name: Type.String(), version: Type.String(), sha256: Sha256 })),
});

/** Every setting that chose tokens, defaults resolved. */
const FrozenSampling = Type.Object({
  ...recordedShapes,
  /** Names of the samplers in the order in which they see the logits. */
  chain: Type.Array(Type.String()),
  maxTokens: Type.Union([Type.Integer(), Type.Null()]),
  stop: Type.Array(Type.String()),
});

const FrozenOutput = Type.Object({
  /** Every sampled token, the one that ended the turn included: base64 of little-endian u32. */
  tokens: Type.String(),
  tokenCount: Type.Integer(),
  tokensSha256: Sha256,
  /** Chain over (token id, f32 bits of the two largest logits) of each step; docs/evidence.md has the formula. */
  traceSha256: Sha256,
  /** Smallest gap between the two largest logits at temperature 0; null above it or without a step. */
  minMargin: NullableNumber,
});

export const FrozenFacts = Type.Object({
  prompt: FrozenPrompt,
  exec: FrozenExec,
  host: FrozenHost,
  sampling: FrozenSampling,
  output: FrozenOutput,
  /** Number of the worker's start in this boot; set by the parent, 1 for the first. */
  workerStart: Type.Optional(Type.Integer()),
});
export type FrozenFacts = Static<typeof FrozenFacts>;

/** Comparison of a claimed answer with the model's own choices. */
export const CheckFacts = Type.Object({
  steps: Type.Integer(),
  /** Steps whose claimed token is the model's first choice. */
  exact: Type.Integer(),
  /** Steps whose claimed token is another one, but no more than the margin below the first choice. */
  withinMargin: Type.Integer(),
  /** First step beyond the margin, counted from 0, or null. */
  firstMismatch: Type.Union([Type.Integer(), Type.Null()]),
  /** Largest gap found between first choice and claimed token. */
  largestGap: Type.Number(),
  promptTokensSha256: Sha256,
  /** Of the chat template; null: the prompt was a text. */
  templateSha256: Type.Union([Sha256, Type.Null()]),
  /** Whether a run of this job would have ended with these tokens, neither sooner nor later. */
  isWhole: Type.Boolean(),
  /** The samplers that such a run would have used, in their order. */
  chain: Type.Array(Type.String()),
});
export type CheckFacts = Static<typeof CheckFacts>;

/** Execution settings of vectors; two runs are comparable only when all of this but the threads is equal. */
const VectorExec = Type.Object({
  /** Tokens of one input at most. */
  numCtx: Type.Integer({ minimum: 1 }),
  threads: Type.Integer({ minimum: 1 }),
  /** Contexts by the length of their inputs, the shortest first. */
  contexts: Type.Array(
    Type.Object({ longest: Type.Integer({ minimum: 1 }), flashAttention: Type.Boolean() }),
    { minItems: 1, maxItems: 4 },
  ),
  /** Pooling of the vectors of tokens. */
  pooling: Type.String({ maxLength: 16 }),
  gpuLayers: Type.Integer(),
  useMmap: Type.Boolean(),
  openMp: Type.Boolean(),
  repack: Type.Boolean(),
});
type VectorExec = Static<typeof VectorExec>;

/** Account of a run of vectors; the digest of each input's tokens comes with its vector. */
export const VectorFacts = Type.Object({
  exec: VectorExec,
  host: FrozenHost,
  workerStart: FrozenFacts.properties.workerStart,
});
export type VectorFacts = Static<typeof VectorFacts>;
