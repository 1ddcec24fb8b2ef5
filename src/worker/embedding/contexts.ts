/**
 * Contexts of an embedding model: one context for short inputs and one for longer ones, and on a CPU further ones in
 * which several inputs are computed at a time. Pure.
 */
import { MOST_EMBEDDING_SEQUENCES, MOST_EMBEDDINGS_AT_ONCE } from '../../contract/limits.ts';
import type { LoadSettings } from '../../contract/settings/shapes.ts';
import type { ContextOptions, LoadOptions } from '../native.ts';

/**
 * From so many rows on, flash attention on a CPU adds up in single precision; below, in half precision. So an input that
 * fills a tile by itself has the same vector in every step, and a shorter one would have another in company than alone.
 */
const FLASH_TILE_ROWS = 64;
const SHORT_INPUT = FLASH_TILE_ROWS - 1;
/** Tokens of a step without flash attention, whose cost grows with the square of the step. */
const SHORT_STEP_TOKENS = 128;
/** Tokens of a step with it; more gain nothing on a CPU, and other jobs wait for the end of a step. */
const LONG_STEP_TOKENS = 256;
/** An input of more tokens keeps all threads busy by itself, and each further context for it would take much memory. */
const LONGEST_PARALLEL = 256;

/** Choices that determine how inputs are computed. */
export interface EmbeddingWay {
  /** Each alone, so that its vector has the same bits in every step. */
  readonly isExact: boolean;
  /** Parallel steps, each with its own threads; 1: one after the other, with all threads. */
  readonly atOnce: number;
}

/**
 * In company the same rows are multiplied in other tiles, which round otherwise. A CPU gains nothing by company: with
 * threads of their own, several inputs take less time than in one step. A GPU needs many rows at a time.
 */
export function embeddingWay(
  { exactVectors = 'auto' }: LoadSettings,
  { usesDevices, threads }: { readonly usesDevices: boolean; readonly threads: number },
): EmbeddingWay {
  const isExact = exactVectors === 'auto' ? !usesDevices : exactVectors === 'on';
  return { isExact, atOnce: isExact && !usesDevices ? Math.min(threads, MOST_EMBEDDINGS_AT_ONCE) : 1 };
}

/** Inputs of up to this number of tokens, and the options of their contexts. */
export interface EmbeddingContextPlan {
  readonly longest: number;
  /** Tokens of one step, unless a single input is longer. */
  readonly tokens: number;
  readonly sequences: number;
  /** The context that computes with all threads while no other does. */
  readonly options: ContextOptions;
  /** Those that compute in parallel, for inputs of up to `longestParallel` tokens. */
  readonly beside: readonly ContextOptions[];
  readonly longestParallel: number;
}

/**
 * The contexts for inputs of at most `limit` tokens, those for the shortest first; a question about memory opens the
 * same ones as a load. Which one computes an input is decided by its own length alone, or its vector would depend on
 * what else is computed.
 */
export function embeddingContexts(
  options: LoadOptions,
  { limit, threads, way }: { readonly limit: number; readonly threads: number; readonly way: EmbeddingWay },
): EmbeddingContextPlan[] {
  const { flashAttention, keyType, valueType, rope } = options;
  const sequences = way.isExact ? 1 : MOST_EMBEDDING_SEQUENCES;
  const plan = (longest: number, together: number, isFlash: boolean | null): EmbeddingContextPlan => {
    const tokens = way.isExact ? 1 : together;
    const contextFor = (rows: number): ContextOptions => {
      // An input is evaluated as a whole, because its tokens attend to each other in both directions.
      const batchTokens = roundedUp(rows);
      return {
        sequences,
        numCtx: batchTokens,
        unified: true,
        batchTokens,
        microBatchTokens: null,
        logitRows: null,
        threads,
        flashAttention: flashAttention ?? isFlash,
        keyType,
        valueType,
        rope,
        embeddings: true,
      };
    };
    const longestParallel = Math.min(longest, LONGEST_PARALLEL);
    const beside = { ...contextFor(longestParallel), threads: 1, ownThreads: true };
    return {
      longest,
      tokens,
      sequences,
      options: contextFor(Math.max(longest, tokens)),
      beside: Array.from({ length: way.atOnce > 1 ? way.atOnce : 0 }, () => beside),
      longestParallel,
    };
  };
  const short = plan(Math.min(SHORT_INPUT, limit), SHORT_STEP_TOKENS, false);
  return limit <= SHORT_INPUT ? [short] : [short, plan(limit, LONG_STEP_TOKENS, null)];
}

export function allContexts(plans: readonly EmbeddingContextPlan[]): ContextOptions[] {
  return plans.flatMap(({ options, beside }) => [options, ...beside]);
}

/**
 * The last token alone becomes the vector of a decoder, and it rounds what other tokens left in half precision: behind
 * other inputs, where the same sums come in another order, its numbers differ in the fifth digit. A tile is as cheap alone.
 */
export function stepTokens(
  { longest, tokens }: Pick<EmbeddingContextPlan, 'longest' | 'tokens'>,
  poolsLastToken: boolean,
): number {
  return poolsLastToken && longest > SHORT_INPUT ? 1 : tokens;
}

/** llama.cpp ends the process where a batch is no multiple of the sequences and the vectors of tokens are averaged. */
function roundedUp(tokens: number): number {
  return Math.ceil(tokens / MOST_EMBEDDING_SEQUENCES) * MOST_EMBEDDING_SEQUENCES;
}
