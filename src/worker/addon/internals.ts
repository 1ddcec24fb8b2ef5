/**
 * The parts of node-llama-cpp below its public API, as narrow interfaces, with a check that they are there.
 * The batch loop drives llama.cpp's batch itself: one call evaluates a token of every decoding sequence and a slice
 * of a prompt together, which the library's own queue cannot be asked for (it gathers in order of arrival, and
 * llama.cpp only keeps consecutive, ascending sequence ids in one micro-batch). Nothing else touches `_` members.
 */
import type {
  Llama,
  LlamaContext,
  LlamaEmbeddingContext,
  LlamaGrammarEvaluationState,
  LlamaModel,
} from 'node-llama-cpp';

/** llama.cpp's context: one batch under construction, and a KV cache of several sequences. */
export interface NativeContext {
  /** Empties the batch and gives it room for this many tokens. */
  initBatch(tokens: number): void;
  /** Adds consecutive tokens of a sequence; returns the batch row of each token whose logits were asked for. */
  addToBatch(
    sequence: number,
    firstPosition: number,
    tokens: Uint32Array,
    logitsOf: Uint32Array,
  ): Uint32Array;
  decodeBatch(): Promise<void>;
  sampleToken(row: number, sampler: NativeSampler): Promise<number>;
  sampleToken(
    row: number,
    sampler: NativeSampler,
    probabilities: false,
    confidence: false,
    logits: LogitFilter,
    totalWeight: true,
  ): Promise<SampledWithLogits>;
  /** Forgets positions from `start` up to, not including, `end` (-1: the end); false when the memory cannot be cut. */
  removeTokenCellsFromSequence(sequence: number, start: number, end: number): boolean;
  disposeSequence(sequence: number): void;
  /** Overwrites the target's whole state with the source's; takes effect at the next decode. */
  copySequenceStateFromOtherSequence(target: number, source: number): Promise<number>;
  getSequenceKvCacheMinPosition(sequence: number): number;
  restoreCheckpoint(checkpoint: NativeCheckpoint, lastPosition: number, sequence: number): Promise<boolean>;
  getEmbedding(tokens: number): Float64Array;
  getMemoryBreakdown(): { cpuRam: number; gpuVram: number };
  setThreads(threads: number): void;
  getThreads(): number;
}

/** Tokens to report besides: the largest, the smallest, the chosen one, and how many of the largest. */
export type LogitFilter = readonly [
  tokens: readonly number[],
  largest: boolean,
  smallest: boolean,
  chosen: boolean,
  top: number,
];

/** The token, two unused places, pairs of token and logit laid flat, and the sum of exp(logit - largest logit). */
export type SampledWithLogits = readonly [
  token: number,
  probabilities: undefined,
  confidence: undefined,
  logits: readonly number[],
  totalWeight: number,
];

export interface NativeSampler {
  applyConfig(config: NativeSamplerConfig): void;
  dispose(): void;
}

export interface NativeSamplerConfig {
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
  tokenBiasKeys?: Uint32Array;
  tokenBiasValues?: Float32Array;
  grammarEvaluationState?: object;
}

export interface NativeCheckpoint {
  init(context: NativeContext, sequence: number): Promise<void>;
  dispose(): void;
  readonly size: number;
  readonly minPos: number;
  readonly maxPos: number;
}

export interface NativeVocabulary {
  tokenize(text: string, specialTokens: boolean): Uint32Array;
  detokenize(tokens: Uint32Array, specialTokens: boolean): string;
  /** The entry of the vocabulary as it stands in the file, byte-mapped or escaped. */
  getTokenString(token: number): string | undefined;
  getTokenAttributes(token: number): number;
  isEogToken(token: number): boolean;
  shouldPrependBosToken(): boolean;
  shouldAppendEosToken(): boolean;
}

const CONTEXT_METHODS: readonly (keyof NativeContext)[] = [
  'initBatch',
  'addToBatch',
  'decodeBatch',
  'sampleToken',
  'removeTokenCellsFromSequence',
  'disposeSequence',
  'copySequenceStateFromOtherSequence',
  'getSequenceKvCacheMinPosition',
  'restoreCheckpoint',
  'getEmbedding',
  'getMemoryBreakdown',
  'setThreads',
  'getThreads',
];

const VOCABULARY_METHODS: readonly (keyof NativeVocabulary)[] = [
  'tokenize',
  'detokenize',
  'getTokenString',
  'getTokenAttributes',
  'isEogToken',
  'shouldPrependBosToken',
  'shouldAppendEosToken',
];

interface Bindings {
  readonly AddonContext: new (...args: never[]) => NativeContext;
  readonly AddonModel: new (...args: never[]) => NativeVocabulary;
  readonly AddonSampler: new (model: unknown) => NativeSampler;
  readonly AddonContextSequenceCheckpoint: new () => NativeCheckpoint;
}

/** Fails at boot, with the name of what is missing, when the installed library is not the one this was built on. */
export function checkInternals(llama: Llama): void {
  const bindings = bindingsOf(llama);
  for (const name of [
    'AddonContext',
    'AddonModel',
    'AddonSampler',
    'AddonContextSequenceCheckpoint',
  ] as const) {
    if (typeof bindings[name] !== 'function') throw missing(name);
  }
  for (const method of CONTEXT_METHODS) requireMethod(bindings.AddonContext.prototype, method);
  for (const method of VOCABULARY_METHODS) requireMethod(bindings.AddonModel.prototype, method);
  requireMethod(bindings.AddonSampler.prototype, 'applyConfig');
}

export function nativeContext(context: LlamaContext): NativeContext {
  return inner<NativeContext>(context, '_ctx');
}

/** The plain context below the library's embedding context, which would compute one input at a time for all. */
export function nativeEmbeddingContext(embedding: LlamaEmbeddingContext): {
  context: LlamaContext;
  native: NativeContext;
} {
  const context = inner<LlamaContext>(embedding, '_llamaContext');
  return { context, native: nativeContext(context) };
}

export function nativeVocabulary(model: LlamaModel): NativeVocabulary {
  return inner<NativeVocabulary>(model, '_model');
}

/** A sampler with a random state of its own; one per running generation. */
export function newSampler(model: LlamaModel): NativeSampler {
  return new (bindingsOf(model.llama).AddonSampler)(inner(model, '_model'));
}

export function newCheckpoint(model: LlamaModel): NativeCheckpoint {
  return new (bindingsOf(model.llama).AddonContextSequenceCheckpoint)();
}

/** The state object that a sampler takes for a grammar. */
export function nativeGrammarState(state: LlamaGrammarEvaluationState): object {
  return inner<object>(state, '_state');
}

function bindingsOf(llama: Llama): Bindings {
  return inner<Bindings>(llama, '_bindings');
}

function inner<T>(owner: object, member: string): T {
  const value: unknown = Reflect.get(owner, member);
  if (value === undefined || value === null) throw missing(member);
  return value as T;
}

function requireMethod(prototype: unknown, method: string): void {
  if (
    typeof prototype !== 'object' ||
    prototype === null ||
    typeof Reflect.get(prototype, method) !== 'function'
  ) {
    throw missing(method);
  }
}

function missing(member: string): Error {
  return new Error(`this build of node-llama-cpp has no "${member}"; Hearth needs version 3.22.x`);
}
