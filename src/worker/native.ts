/**
 * Interface of the native library for the child process: a few handles and plain data, implemented by worker/addon. A
 * call blocks this thread until the library is done, so callers yield to the event loop between steps. Only functions
 * that read a file or reserve memory return a promise. Null means that the library chooses. A handle is used only
 * with handles of the same model.
 */
import type { FrozenFacts } from '../contract/frozen.ts';
import type { BackendFacts } from '../contract/load.ts';
import type { Device, DeviceBytes } from '../contract/memory.ts';
import type { Sampling } from '../contract/sampling-shapes.ts';
import type { KvType } from '../contract/settings/kv-types.ts';
import type { Vocabulary } from './prompt/vocabulary.ts';

export interface NativeBackend {
  readonly facts: BackendFacts;
  /** Devices with their present free memory: other programs take memory after boot. */
  devices(): readonly Device[];
  host(): FrozenFacts['host'];
  /** Names of the samplers in the order in which they see the logits; a grammar comes first. */
  samplersFor(sampling: Sampling): readonly string[];
  openTexts(path: string): Promise<ModelTexts>;
  /** Rejects with the library's message if the file is unusable. */
  openModel(path: string, options: ModelOptions, onProgress: () => void): Promise<NativeModel>;
  /** The options that this library, on this machine, cannot apply. */
  refusedOptions(options: LoadOptions): readonly (keyof LoadOptions)[];
  /**
   * Memory of the model with each of these contexts, in their order; loads nothing. Pass many contexts at once:
   * opening the file costs far more (0.2 to 0.4 s) than a context (4 ms). Rejects if this build of the library does
   * not report memory.
   */
  measure(
    path: string,
    options: ModelOptions,
    contexts: readonly ContextOptions[],
  ): Promise<readonly (readonly DeviceBytes[])[]>;
  isOutOfMemory(error: unknown): boolean;
  readonly readsMedia: boolean;
}

export interface NativeModel {
  readonly facts: ModelFacts;
  readonly vocabulary: Vocabulary;
  newContext(options: ContextOptions): Promise<NativeContext>;
  /** A sampler with its own random state, for one running answer. Configure it before sampling. */
  newSampler(): NativeSampler;
  /** The file that turns images into rows for this model. Rejects with the library's message if it does not fit. */
  openProjector(path: string, options: ProjectorOptions): Promise<NativeProjector>;
  /** Rejects with the library's message if the adapter does not fit. */
  openAdapter(path: string): Promise<NativeAdapter>;
  /** A GBNF grammar at its beginning. Throws if the grammar is refused. */
  newGrammar(gbnf: string): NativeGrammar;
}

export interface ModelOptions {
  /** Devices other than the CPU by the library's names; an empty list: none, null: all. */
  readonly devices: readonly string[] | null;
  /** Layers on those devices, the last ones of the model; null: as many as fit. */
  readonly gpuLayers: number | 'all' | null;
  readonly splitMode: 'none' | 'layer' | 'row' | null;
  /** Share of each device in `devices`, in any unit: only proportions count. */
  readonly tensorSplit: readonly number[] | null;
  /** Index in `devices` of the one that takes everything in split mode `none`. */
  readonly mainGpu: number | null;
  /** The first pattern that matches the name of a tensor decides; others follow their layer. */
  readonly tensorBuffers: readonly TensorBuffer[];
  readonly loadMode: LoadMode | null;
  /** False: weights keep the file's layout. Absent: the library may rearrange them for faster kernels. */
  readonly repacks?: boolean;
}

type LoadMode = 'auto' | 'none' | 'mmap' | 'mlock' | 'mmap+mlock';

export interface TensorBuffer {
  readonly pattern: string;
  /** A buffer type by the library's name; `CPU` is the memory of the host. */
  readonly buffer: string;
}

export interface ModelTemplates {
  readonly chatTemplate: string | null;
  readonly toolTemplate: string | null;
}

export interface ModelTexts extends ModelTemplates {
  readonly vocabulary: Vocabulary;
}

export interface ModelFacts extends ModelTemplates {
  readonly weightsBytes: number;
  /** The window that the model was trained with, tokens. */
  readonly trainedCtx: number;
  readonly embeddingWidth: number;
  readonly gpuLayers: number;
  readonly usesMmap: boolean;
  /** Template of a query and a document, with `{query}` and `{document}`. */
  readonly rerankTemplate: string | null;
  readonly past: PastState;
  /** The window above which the model rotates positions in another way; null: never. */
  readonly ropeCtx: number | null;
}

/**
 * Past that the state of a sequence still holds: every token, the last N, or a running summary. Only the first can be
 * cut anywhere; the others return to a checkpoint.
 */
export type PastState =
  | { readonly holds: 'every token' }
  | { readonly holds: 'window'; readonly tokens: number }
  | { readonly holds: 'summary'; readonly also?: 'window' };

/** Pooling of token vectors into one; `rank`: scores of a pair instead. */
export type Pooling = 'none' | 'mean' | 'cls' | 'last' | 'rank';

export interface ContextOptions {
  readonly sequences: number;
  /** Window of one sequence, or of all together if `unified`, in tokens. A smaller one is never opened instead. */
  readonly numCtx: number;
  readonly unified: boolean;
  readonly batchTokens: number;
  /** Rows that the library computes at a time within a call; null: all of them. */
  readonly microBatchTokens: number | null;
  /** Rows of one call whose logits may be read; null: all of them. */
  readonly logitRows: number | null;
  readonly threads: number;
  /** Does not use the threads that the other contexts share, so that it can compute in parallel to them. */
  readonly ownThreads?: boolean;
  readonly flashAttention: boolean | null;
  /** Types of keys and values in the KV cache; null: the library's default, f16. */
  readonly keyType: KvType | null;
  readonly valueType: KvType | null;
  /** Null: the file decides. */
  readonly rope: RopeOptions | null;
  /** True: layers with a sliding window keep the whole past. Absent: only their window. */
  readonly wholeWindows?: boolean;
  /** Inputs are evaluated for their embeddings, pooled as the file defines, and not for logits. */
  readonly embeddings: boolean;
}

export interface RopeOptions {
  readonly scaling: 'none' | 'linear' | 'yarn' | null;
  /** The base of the frequencies, without a unit. */
  readonly freqBase: number | null;
  /** Factor of the frequencies: 1 / 4 for a window of four times the trained one. */
  readonly freqScale: number | null;
  /** The window before YaRN scaling, tokens. */
  readonly yarnOrigCtx: number | null;
}

interface ExtraFileOptions {
  readonly adapterPaths: readonly string[];
  readonly draftPath: string | null;
}

export type LoadOptions = ModelOptions &
  ExtraFileOptions &
  Pick<ContextOptions, 'flashAttention' | 'keyType' | 'valueType' | 'rope' | 'wholeWindows'>;

/**
 * llama.cpp's context: one batch under construction, and the KV cache of its sequences. A position counts the tokens
 * of a sequence from 0. The next decode overwrites logits and embeddings.
 */
export interface NativeContext {
  readonly numCtx: number;
  readonly batchTokens: number;
  readonly flashAttention: boolean;
  readonly pooling: Pooling;
  /** `appendSequence` is available: all sequences share their cells, and the library has one more. */
  readonly appendsState: boolean;
  memory(): readonly DeviceBytes[];
  setThreads(threads: number): void;
  getThreads(): number;

  /** Exactly these adapters apply from the next decode on. A change costs some milliseconds. */
  setAdapters(adapters: readonly ScaledAdapter[]): void;

  initBatch(tokens: number): void;
  /** Adds consecutive tokens of a sequence; returns the batch row of each index in `wantedLogits`. */
  addToBatch(
    sequence: number,
    firstPosition: number,
    tokens: Uint32Array,
    wantedLogits: Uint32Array,
  ): Uint32Array;
  /**
   * Evaluates rows that are not tokens, in a call of their own. After a failure some of them may be in the KV cache.
   */
  decodeRows(rows: MediumRows): void;
  /** Evaluates the batch. After a failure some of its rows may be in the KV cache. */
  decodeBatch(): void;
  /**
   * Evaluates the batch on another thread, in parallel to contexts with threads of their own. Do not use this context
   * until it has ended.
   */
  decodeOnThread(): Promise<void>;
  sample(batchRow: number, sampler: NativeSampler): number | null;
  /** Raw logits; no sampler is affected. */
  readLogits(batchRow: number, wanted: LogitsWanted): Logits;
  /** The embedding of the input in a sequence, not normalised; for a model that ranks pairs: its scores. */
  embedding(sequence: number): Float32Array;

  /** Drops the positions from `length` on; false if the memory cannot be cut there. */
  cutSequence(sequence: number, length: number): boolean;
  clearSequence(sequence: number): void;
  /** Overwrites the target's whole state with the source's; takes effect at the next decode. */
  copySequence(target: number, source: number): void;
  firstPosition(sequence: number): number;
  /**
   * A copy of the whole sequence, or null if the library cannot make one. Copies some gigabytes per second on this
   * thread.
   */
  saveSequence(sequence: number): Uint8Array | null;
  sequenceBytes(sequence: number): number;
  /**
   * Overwrites the sequence; false if the state does not fit, and then it is empty. The bytes must be authenticated:
   * the library does not check them.
   */
  loadSequence(sequence: number, state: Uint8Array): boolean;
  /**
   * Appends state after the tokens that the sequence holds, if `appendsState`. False if it does not fit; the sequence
   * is unchanged then. The bytes must be authenticated.
   */
  appendSequence(sequence: number, state: Uint8Array): boolean;
  takeCheckpoint(sequence: number): NativeCheckpoint;
  /** False if the state could not be restored; the content of the sequence is then unknown. */
  restoreCheckpoint(checkpoint: NativeCheckpoint, sequence: number): boolean;

  /**
   * Reopens the context with another attention; every sequence is empty then, and no row has logits. Throws if that
   * fails; then the context is open with its former attention, and empty too.
   */
  reopen(attention: AttentionOptions): void;

  dispose(): void;
}

export interface ProjectorOptions {
  readonly threads: number;
  readonly onGpu: boolean;
}

export interface NativeProjector {
  readonly seesImages: boolean;
  readonly hearsAudio: boolean;
  /**
   * Decodes a file, if it is one, and cuts it up. Rejects with the reason why it is unusable, as the end of a
   * sentence.
   */
  prepare(medium: Uint8Array | Pixels): Promise<NativeMedium>;
}

/** A decoded image: rows from the top down, three bytes per pixel. */
export interface Pixels {
  readonly width: number;
  readonly height: number;
  readonly rgb: Uint8Array;
}

/** An image in the model's form: rows, and the tokens before, between and after them. */
export interface NativeMedium {
  readonly pixels: string;
  readonly parts: readonly MediumPart[];
  encode(part: number): Promise<Float32Array>;
  dispose(): void;
}

export type MediumPart =
  | { readonly kind: 'tokens'; readonly tokens: Uint32Array }
  | {
      readonly kind: 'rows';
      readonly rows: number;
      readonly positions: number;
      /** Every row attends to all others, including later ones, so they are evaluated in one piece. */
      readonly isWhole: boolean;
      /** For M-RoPE: four positions of each row, at two offsets; null: consecutive. */
      readonly planes: { readonly atZero: Uint32Array; readonly atOne: Uint32Array } | null;
    };

export interface MediumRows {
  readonly sequence: number;
  readonly values: Float32Array;
  /** Position of each row; with M-RoPE four planes one after the other. */
  readonly positions: Int32Array;
  readonly isWhole: boolean;
}

/** Attention of a context, which also determines the layout of values in its KV cache. */
export type AttentionOptions = Pick<ContextOptions, 'flashAttention' | 'microBatchTokens'>;

export interface NativeAdapter {
  readonly path: string;
}

export interface ScaledAdapter {
  readonly adapter: NativeAdapter;
  /** Factor of its weights; 1 as it was trained. */
  readonly scale: number;
}

export interface LogitsWanted {
  readonly tokens: readonly number[];
  readonly largest: number;
}

export interface Logits {
  readonly of: readonly TokenLogit[];
  readonly largest: number;
  /** The sum of exp(logit - largest) over the whole vocabulary; reads all of it. */
  totalWeight(): number;
  /** Number of larger logits, plus one; reads all of them. */
  tokenRank(token: number): number;
}

export interface TokenLogit {
  readonly token: number;
  readonly logit: number;
}

/** A copy of the part of a sequence's state that later tokens would overwrite. */
export interface NativeCheckpoint {
  /** -1 if there was nothing to keep. */
  readonly lastPosition: number;
  dispose(): void;
}

export interface NativeSampler {
  /** Rebuilds the chain. Random state continues if seed and options of its sampler are the same. */
  configure(config: SamplerConfig): void;
  dispose(): void;
}

export interface SamplerConfig {
  /** Absent options take their defaults, except the seed, which is required. */
  readonly sampling: Omit<Sampling, 'seed'>;
  readonly seed: number;
  readonly grammar: NativeGrammar | null;
  /** The tokens before the first sampled one, for the penalties. */
  readonly recentTokens: readonly number[];
  /** The window of the job, tokens: no penalty looks further back. */
  readonly numCtx: number;
  /** The chain always sees every token; otherwise only those that it would keep: the same choice, faster. */
  readonly allCandidates: boolean;
}

/** Advances with every token that a sampler chooses under it. */
export interface NativeGrammar {
  readonly gbnf: string;
}
