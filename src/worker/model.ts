import type { ExactSteps } from '../contract/settings/exact-rules.ts';
import type { LoadedFacts, LoadSpec } from '../contract/load.ts';
import type { MediaInput } from './media/read-media.ts';
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
  readonly context: NativeContext;
  readonly writer: PromptWriter;
  /** For conversations with tools, if the file has a template of their own. */
  readonly toolWriter: PromptWriter | null;
  readonly adapters: ReadonlyMap<string, NativeAdapter>;
  readonly draftContext: NativeContext | null;
  /** KV cells that all sequences share; null: each has its own window. */
  readonly sharedCells: number | null;
  readonly prefixReuse: 'full' | 'checkpoints';
  /** Encoder of images, or the reason for its absence; absent: the model has no projector. */
  readonly mediaInput?: MediaInput;
  readonly exact?: ExactSteps;
}

export interface EmbeddingContexts {
  /** Uses all threads, while no other context of the model computes. */
  readonly context: NativeContext;
  /** Each with its own threads, in parallel, for inputs of up to `longestParallel` tokens. */
  readonly parallel: readonly NativeContext[];
  readonly longestParallel: number;
  readonly longest: number;
  readonly tokens: number;
  readonly sequences: number;
}

export interface EmbeddingModel extends LoadedModel {
  /** Those for the shortest inputs first; an input goes to the first that takes its length. */
  readonly contexts: readonly EmbeddingContexts[];
  readonly pooling: Pooling;
  /** Tokens of one input at most, the model's own first and last token included. */
  readonly limit: number;
}
