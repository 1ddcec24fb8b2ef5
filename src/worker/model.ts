/** A model that is loaded and ready for jobs. */
import type { ExactSteps } from '../contract/settings/exact-rules.ts';
import type { LoadedFacts, LoadSpec } from '../contract/load.ts';
import type { Sight } from './media/read-media.ts';
import type { NativeAdapter, NativeBackend, NativeContext, NativeModel, Pooling } from './native.ts';
import type { PromptWriter } from './prompt/prompt.ts';
import type { Vocabulary } from './prompt/vocabulary.ts';

interface LoadedModel {
  readonly spec: LoadSpec;
  readonly facts: LoadedFacts;
  readonly backend: NativeBackend;
  readonly model: NativeModel;
  readonly vocabulary: Vocabulary;
}

export interface ChatModel extends LoadedModel {
  /** Of the batch loop: as many sequences as may decode together. */
  readonly context: NativeContext;
  readonly writer: PromptWriter;
  /** For conversations with tools, where the file has a template of their own. */
  readonly toolWriter: PromptWriter | null;
  /** LoRA adapters that jobs may name. */
  readonly adapters: ReadonlyMap<string, NativeAdapter>;
  /** Of the model that drafts, with as many sequences; null where none does. */
  readonly draftContext: NativeContext | null;
  /** KV cells that all sequences share; null where each has its own window. */
  readonly sharedCells: number | null;
  /** Whether KV state can be cut at any token, or only at checkpoints. */
  readonly prefixReuse: 'full' | 'checkpoints';
  /** What makes rows of images, or why none are read; absent: the model has no projector. */
  readonly sight?: Sight;
  /** How an exact load divides its work; absent: an ordinary load, which divides it as is fastest. */
  readonly exact?: ExactSteps;
}

/** What computes inputs of one class of length. */
export interface EmbeddingContexts {
  /** With all threads, while no other context of the model computes. */
  readonly context: NativeContext;
  /** Each with threads of its own, at the same time, for inputs of up to `longestBeside` tokens. */
  readonly beside: readonly NativeContext[];
  readonly longestBeside: number;
  /** Tokens of one input at most. */
  readonly longest: number;
  /** Tokens of one step, unless a single input is longer. */
  readonly tokens: number;
  /** Inputs of one step. */
  readonly sequences: number;
}

export interface EmbeddingModel extends LoadedModel {
  /** Those for the shortest inputs first; an input is computed in the first that takes its length. */
  readonly contexts: readonly EmbeddingContexts[];
  readonly pooling: Pooling;
  /** Tokens of one input at most, the model's own first and last token included. */
  readonly limit: number;
}
