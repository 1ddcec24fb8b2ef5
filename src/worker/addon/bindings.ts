/**
 * The parts of node-llama-cpp below its public API. The batch loop drives llama.cpp's batch itself: one call evaluates
 * a token of every decoding sequence and a prefill chunk together, which the library's own queue cannot be asked
 * for (it gathers in order of arrival, and llama.cpp only keeps consecutive, ascending sequence ids in one
 * micro-batch).
 */
import type { NativeContext } from './native.ts';
import type { AddonSamplerConfig } from './sampler.ts';

/** What the page passes on as it is keeps the page's signature. */
type Passed = 'initBatch' | 'addToBatch' | 'decodeBatch' | 'setThreads' | 'getThreads';

export interface AddonContext extends Pick<NativeContext, Passed> {
  sampleToken(row: number, sampler: AddonSampler): Promise<number>;
  sampleToken(
    row: number,
    sampler: AddonSampler,
    probabilities: false,
    confidence: false,
    logits: LogitFilter,
    totalWeight: true,
  ): Promise<SampledWithLogits>;
  /** Forgets positions from `start` up to, not including, `end` (-1: the end). */
  removeTokenCellsFromSequence(sequence: number, start: number, end: number): boolean;
  disposeSequence(sequence: number): void;
  copySequenceStateFromOtherSequence(target: number, source: number): Promise<number>;
  getSequenceKvCacheMinPosition(sequence: number): number;
  restoreCheckpoint(checkpoint: AddonCheckpoint, lastPosition: number, sequence: number): Promise<boolean>;
  getEmbedding(tokens: number): Float64Array;
  getMemoryBreakdown(): { cpuRam: number; gpuVram: number };
}

/** Tokens to report besides: the largest, the smallest, the chosen one, and how many of the largest. */
type LogitFilter = readonly [
  tokens: readonly number[],
  largest: boolean,
  smallest: boolean,
  chosen: boolean,
  top: number,
];

/** The token, two unused places, pairs of token and logit laid flat, and the sum of exp(logit - largest logit). */
type SampledWithLogits = readonly [
  token: number,
  probabilities: undefined,
  confidence: undefined,
  logits: readonly number[],
  totalWeight: number,
];

export interface AddonSampler {
  applyConfig(config: AddonSamplerConfig): void;
  dispose(): void;
}

export interface AddonCheckpoint {
  init(context: AddonContext, sequence: number): Promise<void>;
  dispose(): void;
  readonly maxPos: number;
}

export interface AddonVocabulary {
  tokenize(text: string, specialTokens: boolean): Uint32Array;
  detokenize(tokens: Uint32Array, specialTokens: boolean): string;
  /** The entry of the vocabulary as it stands in the file, byte-mapped or escaped. */
  getTokenString(token: number): string | undefined;
  getTokenAttributes(token: number): number;
  isEogToken(token: number): boolean;
  shouldPrependBosToken(): boolean;
  shouldAppendEosToken(): boolean;
}

export interface Bindings {
  readonly AddonContext: new (...args: never[]) => AddonContext;
  readonly AddonModel: new (...args: never[]) => AddonVocabulary;
  readonly AddonSampler: new (model: unknown) => AddonSampler;
  readonly AddonContextSequenceCheckpoint: new () => AddonCheckpoint;
}

export const CONTEXT_METHODS: readonly (keyof AddonContext)[] = [
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

export const VOCABULARY_METHODS: readonly (keyof AddonVocabulary)[] = [
  'tokenize',
  'detokenize',
  'getTokenString',
  'getTokenAttributes',
  'isEogToken',
  'shouldPrependBosToken',
  'shouldAppendEosToken',
];
