/** Orders to load a model, and facts of the result. */
import { type Static, Type } from 'typebox';
import { KIND_PATTERN } from '../lib/prompt-cache/kind.ts';
import { MOST_PINS, PinnedPrefix } from '../lib/prompt-cache/pin.ts';
import { LoadSettings } from './settings/shapes.ts';
import { LEAST_CTX, MOST_DRAFT_TOKENS, MOST_SEQUENCES, MOST_THREADS } from './limits.ts';
import { ContextSize, Device, DeviceBytes, MOST_MEASURED_SIZES } from './memory.ts';

export const ModelKind = Type.Union([Type.Literal('chat'), Type.Literal('embedding')]);
export type ModelKind = Static<typeof ModelKind>;

/** Mechanisms for speed that a benchmark can switch off; src/worker/batch/DESIGN.md explains each. */
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
  /** Parts that the tuned planner leaves out. */
  without: Type.Array(PlannerPart),
});
export type PlannerChoice = Static<typeof PlannerChoice>;

/** The experts of a mixture, by the header of its file. */
export const ExpertFacts = Type.Object(
  {
    /** Size of the experts of each layer, bytes; 0 for a layer without any. */
    layerBytes: Type.Array(Type.Integer({ minimum: 0 }), { minItems: 1 }),
  },
  { additionalProperties: false },
);
export type ExpertFacts = Static<typeof ExpertFacts>;

/** A further GGUF file opened with the model, by the id that it is installed under. */
const ExtraFile = Type.Object({ name: Type.String(), path: Type.String() });

/** Disk tier of the prompt cache of a model. */
export const DiskCacheSpec = Type.Object({
  /** Absolute; the state of this load lies in a folder of it. */
  folder: Type.String(),
  /** Of all models together. */
  bytes: Type.Integer({ minimum: 1 }),
  /** Digests of everything that a state depends on: weights, engine build, machine, types. Names the folder. */
  kind: Type.String({ pattern: KIND_PATTERN }),
  /** Key of the encrypted files: 32 bytes that only this home has, hex. */
  secret: Type.String({ pattern: '^[0-9a-f]{64}$' }),
});
export type DiskCacheSpec = Static<typeof DiskCacheSpec>;

/** Prompt state kept in addition to the sequences. */
export const PromptCacheSpec = Type.Object({
  /** Of host memory; 0: none. */
  ramBytes: Type.Integer({ minimum: 0 }),
  disk: Type.Union([DiskCacheSpec, Type.Null()]),
  /** Prefixes whose state is never evicted; absent: none. */
  pins: Type.Optional(Type.Array(PinnedPrefix, { maxItems: MOST_PINS })),
});
export type PromptCacheSpec = Static<typeof PromptCacheSpec>;

export const LoadSpec = Type.Object({
  modelId: Type.String(),
  /** Absolute path of the first or only GGUF file, resolved and re-checked by the registry. */
  path: Type.String(),
  /** Lower-case hex SHA-256 of the file when known; names the tuning record together with backend and CPU. */
  digest: Type.Union([Type.String(), Type.Null()]),
  kind: ModelKind,
  /** Window of one sequence, tokens. */
  numCtx: Type.Integer({ minimum: LEAST_CTX }),
  /** KV cells that all sequences share where the backend can share them; else each has its own window. */
  cells: Type.Integer({ minimum: LEAST_CTX }),
  /** Sequences that decode together. */
  parallel: Type.Integer({ minimum: 1, maximum: MOST_SEQUENCES }),
  /** Null: chosen while steps run, from `tunedThreads` on or from what the load measures. */
  threads: Type.Union([Type.Integer({ minimum: 1, maximum: MOST_THREADS }), Type.Null()]),
  tunedThreads: Type.Union([Type.Integer({ minimum: 1, maximum: MOST_THREADS }), Type.Null()]),
  /** Draft tokens per sequence and step; 0: none. */
  draftTokens: Type.Integer({ minimum: 0, maximum: MOST_DRAFT_TOKENS }),
  /** Settings of this model by its user, beyond its size. */
  settings: LoadSettings,
  /** Null: the model is no mixture, or was installed before this was read. */
  experts: Type.Union([ExpertFacts, Type.Null()]),
  /** LoRA adapters that jobs may name. */
  adapters: Type.Array(ExtraFile),
  /** The model that drafts, or null. */
  draft: Type.Union([ExtraFile, Type.Null()]),
  /**
   * Projector that turns images into rows of the model; absent: nothing does. `digest` as that of the model's own file.
   */
  projector: Type.Optional(
    Type.Object({ path: Type.String(), digest: Type.Union([Type.String(), Type.Null()]) }),
  ),
  /** Absent: state is kept in sequences only. */
  promptCache: Type.Optional(PromptCacheSpec),
  /** Only a benchmark names it; absent: the tuned planner with all its parts. */
  planner: Type.Optional(PlannerChoice),
});
export type LoadSpec = Static<typeof LoadSpec>;

/** A question about a model that is not loaded; it names what changes the answer, as a load would. */
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

/** A question about how a chat model writes, by its templates and its vocabulary alone. */
export const FormatSpec = Type.Object({
  modelId: LoadSpec.properties.modelId,
  path: LoadSpec.properties.path,
  settings: LoadSettings,
});
export type FormatSpec = Static<typeof FormatSpec>;

/** Facts of a loaded model, measured after the load. Sizes in bytes. */
export const LoadedFacts = Type.Object({
  numCtx: Type.Integer(),
  trainedCtx: Type.Integer(),
  sequences: Type.Integer(),
  threads: Type.Integer(),
  /** Tokens per second measured for each thread count tried; empty when no calibration ran. */
  calibration: Type.Array(Type.Object({ threads: Type.Integer(), tokensPerS: Type.Number() })),
  gpuLayers: Type.Integer(),
  contextBytes: Type.Integer(),
  residentBytes: Type.Integer(),
  /** KV cells that the sequences share; absent: each has its own window. */
  cells: Type.Optional(Type.Integer({ minimum: 1 })),
  /** Allocations of the native library on each device; absent if it does not report them. */
  memory: Type.Optional(Type.Array(DeviceBytes, { maxItems: 64 })),
});
export type LoadedFacts = Static<typeof LoadedFacts>;

/** A GPU kind that this platform has a package for. */
export const GpuSupport = Type.Object({
  kind: Type.Union([Type.Literal('cuda'), Type.Literal('vulkan')]),
  /** Missing parts of the system that it needs, in words for people. */
  missing: Type.Array(Type.String(), { maxItems: 8 }),
  installed: Type.Boolean(),
  /** The CUDA runtime version that its driver accepts and that is missing; absent: nothing to download. */
  runtime: Type.Optional(Type.Integer()),
});
export type GpuSupport = Static<typeof GpuSupport>;

/** Nothing of it needs a download. */
export const isFetched = ({ installed, runtime }: GpuSupport): boolean => installed && runtime === undefined;

/** Rights that a sealed worker has given up, and the mechanism of each; each was tested. */
export const WorkerSeal = Type.Object({
  /** No connection: by the kernel, or by Node's own functions alone. */
  network: Type.Union([Type.Literal('seccomp'), Type.Literal('socket-guard')]),
  /** No file except the installed models, the program's own files, and its prompt cache. */
  files: Type.Union([Type.Literal('landlock'), Type.Literal('none')]),
});
export type WorkerSeal = Static<typeof WorkerSeal>;

/** The native library as the worker sees it, once initialised. */
export const BackendFacts = Type.Object({
  /** The folder of prebuilt files that was bound. */
  folder: Type.String(),
  /** Files of that folder that are mapped into the process. */
  mapped: Type.Array(Type.String()),
  systemInfo: Type.String(),
  /** As the library reports it, such as 0.5.0. */
  version: Type.Optional(Type.String()),
  gpu: Type.String(),
  cpuMathCores: Type.Integer(),
  /** Absent if the library does not report them. */
  devices: Type.Optional(Type.Array(Device, { maxItems: 64 })),
  /** Whether the sequences of a context share its KV cells (unified KV cache). */
  sharesCells: Type.Optional(Type.Boolean()),
  /** Whether it reads images, for models with a projector; absent: it does not. */
  media: Type.Optional(Type.Boolean()),
  gpuSupport: Type.Optional(Type.Array(GpuSupport, { maxItems: 8 })),
  /** Absent: the worker is not sealed. */
  seal: Type.Optional(WorkerSeal),
});
export type BackendFacts = Static<typeof BackendFacts>;
