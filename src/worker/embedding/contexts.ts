/**
 * Contexts of an embedding model: one for short inputs and one for longer ones; on a CPU, further ones for parallel
 * inputs. Pure.
 */
import { MOST_EMBEDDING_SEQUENCES, MOST_EMBEDDINGS_AT_ONCE } from '../../contract/limits.ts';
import type { LoadSettings } from '../../contract/settings/shapes.ts';
import type { ContextOptions, LoadOptions } from '../native.ts';

/**
 * From this number of rows on, flash attention on a CPU sums in single precision, below it in half precision. So an
 * input that fills a tile has the same vector in every step; a shorter one would not.
 */
const FLASH_TILE_ROWS = 64;
const SHORT_INPUT = FLASH_TILE_ROWS - 1;
/** Tokens of a step without flash attention, whose cost grows with the square of the step. */
const SHORT_STEP_TOKENS = 128;
/** Tokens of a step with flash attention; more gain nothing on a CPU, and other jobs wait for the end of a step. */
const LONG_STEP_TOKENS = 256;
/** A longer input keeps all threads busy alone, and each further context for it would take much memory. */
const LONGEST_PARALLEL = 256;

export interface EmbeddingWay {
  /** Each input has a step of its own, so that its vector always has the same bits. */
  readonly isExact: boolean;
  /** Parallel steps, each with its own threads; 1: one after the other, with all threads. */
  readonly atOnce: number;
}

/**
 * In a shared step the same rows are multiplied in other tiles, which round differently. Shared steps gain nothing on
 * a CPU: several inputs in parallel, each with its own threads, take less time. A GPU needs many rows at a time.
 */
export function embeddingWay(
  { exactVectors = 'auto' }: LoadSettings,
  { usesDevices, threads }: { readonly usesDevices: boolean; readonly threads: number },
): EmbeddingWay {
  const isExact = exactVectors === 'auto' ? !usesDevices : exactVectors === 'on';
  return { isExact, atOnce: isExact && !usesDevices ? Math.min(threads, MOST_EMBEDDINGS_AT_ONCE) : 1 };
}

export interface EmbeddingContextPlan {
  readonly longest: number;
  readonly tokens: number;
  readonly sequences: number;
  readonly options: ContextOptions;
  readonly parallel: readonly ContextOptions[];
  readonly longestParallel: number;
}

/**
 * Plans for inputs of at most `limit` tokens, the shortest first; loads and memory estimates share them. Only the
 * length of an input may choose its context, or its vector would depend on other inputs.
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
    const parallel = { ...contextFor(longestParallel), threads: 1, ownThreads: true };
    return {
      longest,
      tokens,
      sequences,
      options: contextFor(Math.max(longest, tokens)),
      parallel: Array.from({ length: way.atOnce > 1 ? way.atOnce : 0 }, () => parallel),
      longestParallel,
    };
  };
  const short = plan(Math.min(SHORT_INPUT, limit), SHORT_STEP_TOKENS, false);
  return limit <= SHORT_INPUT ? [short] : [short, plan(limit, LONG_STEP_TOKENS, null)];
}

export function allContexts(plans: readonly EmbeddingContextPlan[]): ContextOptions[] {
  return plans.flatMap(({ options, parallel }) => [options, ...parallel]);
}

/**
 * 1 (one input per step) for long inputs of a decoder that pools the last token: after other inputs, sums in half
 * precision have another order, and its numbers differ in the fifth digit. A tile alone is as cheap.
 */
export function stepTokens(
  { longest, tokens }: Pick<EmbeddingContextPlan, 'longest' | 'tokens'>,
  poolsLastToken: boolean,
): number {
  return poolsLastToken && longest > SHORT_INPUT ? 1 : tokens;
}

/** llama.cpp aborts if a batch is not a multiple of the sequences and the vectors of tokens are averaged. */
function roundedUp(tokens: number): number {
  return Math.ceil(tokens / MOST_EMBEDDING_SEQUENCES) * MOST_EMBEDDING_SEQUENCES;
}
