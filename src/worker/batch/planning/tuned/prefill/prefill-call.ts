/**
 * worker/batch/planning/tuned/prefill owns which prompt tokens a step evaluates, so that no stream waits too long and no prompt starves. It
 * knows nothing of how decode rows are evaluated but the time that they take.
 */
import {
  type DecodingSequence,
  type EvaluatedCall,
  type PlannedCall,
  type PrefillingSequence,
  rowsOf,
} from '../../step-planner.ts';
import { ASSUMED_PREFILL_MS_PER_TOKEN, LINGER_LIMITS, PLAIN_CHUNK_TOKENS } from '../../tuning.ts';
import { burst, chunkBurst } from './bursts.ts';
import { ChunkSize, type StepBeside } from './chunk-size.ts';
import { chunkPrompts, inOrder } from './prefill-chunks.ts';
import { type CallRules, tiledCall } from '../../tiles.ts';
import { padToTile } from './pad-to-tile.ts';

export interface PrefillOptions {
  /** Rows of one native call. */
  readonly mostRows: number;
  readonly sizesChunks: boolean;
  readonly formsBursts: boolean;
  /** Rules for the tiles of prompts; null: any will do. */
  readonly exact: CallRules | null;
  /**
   * Where a tile of rows reads the KV cache once: the window, tokens, whether all sequences share a pass, and whether rows
   * can be forgotten; else null.
   */
  readonly tiles: { readonly numCtx: number; readonly together: boolean; readonly canPad: boolean } | null;
}

export interface PrefillWork extends Pick<StepBeside, 'decodeMs' | 'rowMs'> {
  readonly nowMs: number;
  readonly streams: readonly DecodingSequence[];
  readonly prompts: readonly PrefillingSequence[];
}

export class PrefillCall {
  readonly #options: PrefillOptions;
  readonly #chunk: ChunkSize;
  /** Steps in which a prompt got no chunk, by sequence. */
  #passedOver: ReadonlyMap<number, number> = new Map();

  constructor(options: PrefillOptions) {
    this.#options = options;
    this.#chunk = new ChunkSize({ mostTokens: options.mostRows, readsByTile: options.tiles !== null });
  }

  get msPerToken(): number {
    return this.#chunk.msPerToken ?? ASSUMED_PREFILL_MS_PER_TOKEN;
  }

  /** Null without prompts. */
  plan({ nowMs, streams, prompts, decodeMs, rowMs }: PrefillWork): PlannedCall | null {
    if (prompts.length === 0) {
      this.#passedOver = new Map();
      return null;
    }
    const waiting = prompts.map((prompt) => ({
      ...prompt,
      passedOver: this.#passedOver.get(prompt.sequence) ?? 0,
    }));
    const { sizesChunks, formsBursts, exact, tiles } = this.#options;
    const { msPerToken } = this.#chunk;
    const members = formsBursts ? burst(streams, waiting, { msPerToken, nowMs }) : [];
    const isBurst = members.length > 0;
    const depth = inOrder(isBurst ? members : waiting)[0]?.position ?? 0;
    const budget = sizesChunks ? this.#chunk.budget({ decodeMs, rowMs, depth }) : PLAIN_CHUNK_TOKENS;
    // Nothing may exceed the budget as long as the price of a row is unknown.
    const mostRows = msPerToken === null ? budget : this.#options.mostRows;
    const rules = { budget, mostRows, idle: decodeMs === null };
    const wanted = isBurst ? chunkBurst(members, rules) : chunkPrompts(waiting, rules);
    const bySequence = new Map(waiting.map((prompt) => [prompt.sequence, prompt]));
    const chunks = exact === null ? wanted : tiledCall(wanted, bySequence, exact);
    const left = waiting.filter((prompt) => !chunks.some(({ sequence }) => sequence === prompt.sequence));
    this.#passedOver = new Map(left.map((prompt) => [prompt.sequence, prompt.passedOver + 1]));
    const planned = chunks
      .map((chunk) => ({ ...PREFILL, ...chunk, position: bySequence.get(chunk.sequence)?.position ?? 0 }))
      .sort((a, b) => a.sequence - b.sequence);
    if (planned.length === 0) return null;
    // A chunk that is no end has fewer rows because a tile would take too long.
    const isEnd = chunks.every(({ sequence, tokens }) => bySequence.get(sequence)?.remaining === tokens);
    const canFill = isEnd && tiles !== null && tiles.canPad && (tiles.together || planned.length === 1);
    const rows = canFill ? padToTile(planned, tiles.numCtx) : planned;
    const total = rows.reduce((sum, row) => sum + rowsOf(row), 0);
    return { phase: 'prefill', rows, expectedMs: this.msPerToken * total };
  }

  observe({ rows, ms }: Pick<EvaluatedCall, 'rows' | 'ms'>): void {
    const total = rows.reduce((sum, row) => sum + rowsOf(row), 0);
    const depth = rows.reduce((sum, row) => sum + rowsOf(row) * (row.position + rowsOf(row) / 2), 0);
    this.#chunk.observePrefill(total, ms, depth / total);
  }

  /** Only beside a prefill so long that the wait is not felt. */
  lingerMs(promptTokens: number): number {
    const prefillMs = promptTokens * (this.#chunk.msPerToken ?? 0);
    return this.#options.formsBursts && prefillMs >= LINGER_LIMITS.leastPrefillMs ? LINGER_LIMITS.mostMs : 0;
  }
}

const PREFILL = { kind: 'prefill', padding: 0 } as const;
