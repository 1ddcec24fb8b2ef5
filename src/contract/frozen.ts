/**
 * Pins, reports and checks of the frozen lane. A frozen run repeats bit for bit on the same backend bytes, CPU
 * features and execution settings.
 */
import { type Static, Type } from 'typebox';
import { MOST_THREADS } from './limits.ts';
import { recordedShapes } from './sampling-shapes.ts';

const Sha256 = Type.String({ pattern: '^[0-9a-f]{64}$' });
const NullableNumber = Type.Union([Type.Number(), Type.Null()]);

/** Pins of a replay; a pin that cannot be honoured fails the job. */
export const FrozenPins = Type.Object({
  threads: Type.Union([Type.Integer({ minimum: 1, maximum: MOST_THREADS }), Type.Null()]),
  numCtx: Type.Union([Type.Integer({ minimum: 256 }), Type.Null()]),
  /** Base64 of little-endian u32 ids; these tokens are checked and none is sampled. */
  claimedTokens: Type.Union([Type.String(), Type.Null()]),
  /** Largest distance of a claimed token below the first choice, in logits. */
  epsilon: Type.Number({ minimum: 0 }),
});
export type FrozenPins = Static<typeof FrozenPins>;

const FrozenPrompt = Type.Object({
  /** SHA-256 of the template text; null when the model has no template and a fixed form was used. */
  templateSha256: Type.Union([Sha256, Type.Null()]),
  templateClockMs: Type.Integer(),
  renderedSha256: Sha256,
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

export const FrozenHost = Type.Object({
  pid: Type.Integer(),
  /** Native files of the bound folder; the inode shows whether it is the file that was hashed. */
  mapped: Type.Array(Type.Object({ name: Type.String(), inode: Type.Union([Type.Integer(), Type.Null()]) })),
  cpuFeatures: Type.String(),
  libc: Type.String(),
  /** Native binding of the library; absent in records made before it was named. */
  binding: Type.Optional(Type.Object({ name: Type.String(), version: Type.String(), sha256: Sha256 })),
});

const FrozenSampling = Type.Object({
  ...recordedShapes,
  chain: Type.Array(Type.String()),
  maxTokens: Type.Union([Type.Integer(), Type.Null()]),
  stop: Type.Array(Type.String()),
});

const FrozenOutput = Type.Object({
  /** Every sampled token including the one that ended the turn: base64 of little-endian u32. */
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
  /** Start count of the worker in this boot, from 1; set by the parent. */
  workerStart: Type.Optional(Type.Integer()),
});
export type FrozenFacts = Static<typeof FrozenFacts>;

export const CheckFacts = Type.Object({
  steps: Type.Integer(),
  exact: Type.Integer(),
  withinMargin: Type.Integer(),
  firstMismatch: Type.Union([Type.Integer(), Type.Null()]),
  largestGap: Type.Number(),
  promptTokensSha256: Sha256,
  /** Null when the prompt was a text. */
  templateSha256: Type.Union([Sha256, Type.Null()]),
  /** True if a run of this job would have ended after exactly these tokens. */
  isWhole: Type.Boolean(),
  chain: Type.Array(Type.String()),
});
export type CheckFacts = Static<typeof CheckFacts>;

/** Two runs are comparable only when all of this except the threads is equal. */
const VectorExec = Type.Object({
  /** Limit of one input, tokens. */
  numCtx: Type.Integer({ minimum: 1 }),
  threads: Type.Integer({ minimum: 1 }),
  contexts: Type.Array(
    Type.Object({ longest: Type.Integer({ minimum: 1 }), flashAttention: Type.Boolean() }),
    { minItems: 1, maxItems: 4 },
  ),
  pooling: Type.String({ maxLength: 16 }),
  gpuLayers: Type.Integer(),
  useMmap: Type.Boolean(),
  openMp: Type.Boolean(),
  repack: Type.Boolean(),
});
type VectorExec = Static<typeof VectorExec>;

export const VectorFacts = Type.Object({
  exec: VectorExec,
  host: FrozenHost,
  workerStart: FrozenFacts.properties.workerStart,
});
export type VectorFacts = Static<typeof VectorFacts>;
