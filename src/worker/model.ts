/** A model that is loaded and ready for jobs. */
import type { LoadedFacts, LoadSpec } from '../contract/load.ts';
import type { NativeAdapter, NativeBackend, NativeContext, NativeModel } from './native.ts';
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
  /** LoRA adapters that jobs may name. */
  readonly adapters: ReadonlyMap<string, NativeAdapter>;
  /** Of the model that drafts, with as many sequences; null where none does. */
  readonly draftContext: NativeContext | null;
  /** KV cells that all sequences share; null where each has its own window. */
  readonly sharedCells: number | null;
  /** Whether KV state can be cut at any token, or only at checkpoints. */
  readonly prefixReuse: 'full' | 'checkpoints';
}

export interface EmbeddingModel extends LoadedModel {
  /** Computes the inputs of as many sequences in one step. */
  readonly context: NativeContext;
  readonly sequences: number;
  /** Tokens of one step, unless a single input is longer. */
  readonly stepTokens: number;
  /** Tokens of one input at most, the model's own first and last token included. */
  readonly limit: number;
}
