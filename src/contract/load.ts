import { type Static, Type } from 'typebox';
import { KIND_PATTERN } from '../lib/prompt-cache/kind.ts';
import { MOST_PINS, PinnedPrefix } from '../lib/prompt-cache/pin.ts';
import { LoadSettings } from './settings/shapes.ts';
import { LEAST_CTX, MOST_DRAFT_TOKENS, MOST_SEQUENCES, MOST_THREADS } from './limits.ts';
import { ContextSize, Device, DeviceBytes, MOST_MEASURED_SIZES } from './memory.ts';

export const ModelKind = Type.Union([Type.Literal('chat'), Type.Literal('embedding')]);
export type ModelKind = Static<typeof ModelKind>;

/** Speed mechanisms that a benchmark can switch off; src/worker/batch/DESIGN.md explains each. */
export const PlannerPart = Type.Union([
  Type.Literal('drafts'),
  Type.Literal('bursts'),
  Type.Literal('chunk-size'),
  Type.Literal('attention'),
  Type.Literal('padding'),
  Type.Literal('set-aside'),
  Type.Literal('cache-blocks'),
]);
export type PlannerPart = Static<typeof PlannerPart>;

export const PlannerChoice = Type.Object({
  kind: Type.Union([Type.Literal('tuned'), Type.Literal('plain')]),
  without: Type.Array(PlannerPart),
});
export type PlannerChoice = Static<typeof PlannerChoice>;

export const ExpertFacts = Type.Object(
  {
    /** Bytes of the experts of each layer; 0 for a layer without experts. */
    layerBytes: Type.Array(Type.Integer({ minimum: 0 }), { minItems: 1 }),
  },
  { additionalProperties: false },
);
export type ExpertFacts = Static<typeof ExpertFacts>;

const ExtraFile = Type.Object({ name: Type.String(), path: Type.String() });

export const DiskCacheSpec = Type.Object({
  /** Absolute path; the state of this load lies in a subfolder. */
  folder: Type.String(),
  /** Limit for all models together. */
  bytes: Type.Integer({ minimum: 1 }),
  /** Digest of everything that a state depends on: weights, engine build, machine, types. Names the subfolder. */
  kind: Type.String({ pattern: KIND_PATTERN }),
  /** Key of the encrypted files: 32 bytes in hex, unique to this home. */
  secret: Type.String({ pattern: '^[0-9a-f]{64}$' }),
});
export type DiskCacheSpec = Static<typeof DiskCacheSpec>;

export const PromptCacheSpec = Type.Object({
  /** Host memory; 0: none. */
  ramBytes: Type.Integer({ minimum: 0 }),
  disk: Type.Union([DiskCacheSpec, Type.Null()]),
  /** Prefixes whose state is never evicted. */
  pins: Type.Optional(Type.Array(PinnedPrefix, { maxItems: MOST_PINS })),
});
export type PromptCacheSpec = Static<typeof PromptCacheSpec>;

export const LoadSpec = Type.Object({
  modelId: Type.String(),
  /** Absolute path of the first or only GGUF file, resolved and checked again by the registry. */
  path: Type.String(),
  /** Lower-case hex SHA-256 of the file if known; part of the key of the tuning record. */
  digest: Type.Union([Type.String(), Type.Null()]),
  kind: ModelKind,
  /** Window of one sequence, tokens. */
  numCtx: Type.Integer({ minimum: LEAST_CTX }),
  /** KV cells shared by all sequences if the backend can share them; otherwise each sequence has its own window. */
  cells: Type.Integer({ minimum: LEAST_CTX }),
  parallel: Type.Integer({ minimum: 1, maximum: MOST_SEQUENCES }),
  /** Null: chosen while steps run, starting from `tunedThreads` or from the load's measurement. */
  threads: Type.Union([Type.Integer({ minimum: 1, maximum: MOST_THREADS }), Type.Null()]),
  tunedThreads: Type.Union([Type.Integer({ minimum: 1, maximum: MOST_THREADS }), Type.Null()]),
  /** Draft tokens per sequence and step; 0: none. */
  draftTokens: Type.Integer({ minimum: 0, maximum: MOST_DRAFT_TOKENS }),
  settings: LoadSettings,
  /** Null: not a mixture of experts, or installed before this field existed. */
  experts: Type.Union([ExpertFacts, Type.Null()]),
  adapters: Type.Array(ExtraFile),
  draft: Type.Union([ExtraFile, Type.Null()]),
  /** Projector that turns images into model rows. `digest` is like the model's own. */
  projector: Type.Optional(
    Type.Object({ path: Type.String(), digest: Type.Union([Type.String(), Type.Null()]) }),
  ),
  promptCache: Type.Optional(PromptCacheSpec),
  planner: Type.Optional(PlannerChoice),
});
export type LoadSpec = Static<typeof LoadSpec>;

/** Memory question about a model that is not loaded; includes every setting that changes the answer. */
export const MeasureSpec = Type.Object({
  modelId: LoadSpec.properties.modelId,
  path: LoadSpec.properties.path,
  kind: ModelKind,
  threads: LoadSpec.properties.threads,
  settings: LoadSettings,
  experts: LoadSpec.properties.experts,
  sizes: Type.Array(ContextSize, { minItems: 1, maxItems: MOST_MEASURED_SIZES }),
});
export type MeasureSpec = Static<typeof MeasureSpec>;

export const FormatSpec = Type.Object({
  modelId: LoadSpec.properties.modelId,
  path: LoadSpec.properties.path,
  settings: LoadSettings,
});
export type FormatSpec = Static<typeof FormatSpec>;

/** Measured after the load. Sizes in bytes. */
export const LoadedFacts = Type.Object({
  numCtx: Type.Integer(),
  trainedCtx: Type.Integer(),
  sequences: Type.Integer(),
  threads: Type.Integer(),
  /** Tokens per second of each tried thread count; empty without a calibration. */
  calibration: Type.Array(Type.Object({ threads: Type.Integer(), tokensPerS: Type.Number() })),
  gpuLayers: Type.Integer(),
  contextBytes: Type.Integer(),
  residentBytes: Type.Integer(),
  cells: Type.Optional(Type.Integer({ minimum: 1 })),
  memory: Type.Optional(Type.Array(DeviceBytes, { maxItems: 64 })),
});
export type LoadedFacts = Static<typeof LoadedFacts>;

export const GpuSupport = Type.Object({
  kind: Type.Union([Type.Literal('cuda'), Type.Literal('vulkan')]),
  /** Missing system components, in words for users. */
  missing: Type.Array(Type.String(), { maxItems: 8 }),
  installed: Type.Boolean(),
  /** CUDA runtime version that the driver accepts and that is missing; absent: nothing to download. */
  runtime: Type.Optional(Type.Integer()),
});
export type GpuSupport = Static<typeof GpuSupport>;

export const isFetched = ({ installed, runtime }: GpuSupport): boolean => installed && runtime === undefined;

/** Rights that a sealed worker has given up, with the tested mechanism of each. */
export const WorkerSeal = Type.Object({
  /** Blocks connections in the kernel, or only in Node's own functions. */
  network: Type.Union([Type.Literal('seccomp'), Type.Literal('socket-guard')]),
  /** Blocks all files except installed models, the program and its prompt cache. */
  files: Type.Union([Type.Literal('landlock'), Type.Literal('none')]),
});
export type WorkerSeal = Static<typeof WorkerSeal>;

export const BackendFacts = Type.Object({
  folder: Type.String(),
  mapped: Type.Array(Type.String()),
  systemInfo: Type.String(),
  version: Type.Optional(Type.String()),
  gpu: Type.String(),
  cpuMathCores: Type.Integer(),
  devices: Type.Optional(Type.Array(Device, { maxItems: 64 })),
  sharesCells: Type.Optional(Type.Boolean()),
  media: Type.Optional(Type.Boolean()),
  gpuSupport: Type.Optional(Type.Array(GpuSupport, { maxItems: 8 })),
  seal: Type.Optional(WorkerSeal),
});
export type BackendFacts = Static<typeof BackendFacts>;
