import type { CostModel } from './cost-model.ts';
import {
  cellsPerRow,
  type DecodingSequence,
  type PlannedCall,
  type PlannedRow,
  type PrefillingSequence,
  totalRows,
  rowCount,
} from './step-planner.ts';
import { LINGER_LIMITS, PLAIN_CHUNK_TOKENS, ROW_TILE, WORTH_PADDING } from './tuning.ts';
import { burst, chunkBurst } from './bursts.ts';
import { ChunkSize, type RestOfStep } from './chunk-size.ts';
import { chunkPrompts, inOrder } from './prefill-chunks.ts';
import { type CallRules, tiledCall } from './tiles.ts';

interface PrefillOptions {
  readonly costs: CostModel;
  readonly mostRows: number;
  readonly sizesChunks: boolean;
  readonly formsBursts: boolean;
  readonly exact: CallRules | null;
  readonly numCtx: number;
  readonly together: boolean;
  readonly canPad: boolean;
}

interface PrefillWork extends Pick<RestOfStep, 'decodeMs'> {
  readonly nowMs: number;
  readonly cellsInUse: number | null;
  readonly streams: readonly DecodingSequence[];
  readonly prompts: readonly PrefillingSequence[];
}

interface ObservedTime extends Pick<PrefillWork, 'cellsInUse'> {
  readonly ms: number;
}

export class PrefillCall {
  readonly #options: PrefillOptions;
  readonly #chunk: ChunkSize;
  #passedOver: ReadonlyMap<number, number> = new Map();

  constructor(options: PrefillOptions) {
    this.#options = options;
    this.#chunk = new ChunkSize({ costs: options.costs, mostTokens: options.mostRows });
  }

  plan({ nowMs, streams, prompts, decodeMs, cellsInUse }: PrefillWork): PlannedCall | null {
    if (prompts.length === 0) {
      this.#passedOver = new Map();
      return null;
    }
    const waiting = prompts.map((prompt) => ({
      ...prompt,
      passedOver: this.#passedOver.get(prompt.sequence) ?? 0,
    }));
    const { costs, sizesChunks, formsBursts, exact } = this.#options;
    const msPerToken = costs.promptRowMs;
    const members = formsBursts ? burst(streams, waiting, { msPerToken, nowMs }) : [];
    const isBurst = members.length > 0;
    const depth = cellsInUse ?? inOrder(isBurst ? members : waiting)[0]?.position ?? 0;
    const rest = { decodeMs, rowMs: costs.rowMs(depth), depth };
    const budget = sizesChunks ? this.#chunk.budget(rest) : PLAIN_CHUNK_TOKENS;
    // Nothing may exceed the budget while the time of a row is unknown.
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
    // A chunk that is not an end has fewer rows because a tile would take too long.
    const isEnd = chunks.every(({ sequence, tokens }) => bySequence.get(sequence)?.remaining === tokens);
    const rows = isEnd && this.#canFill(planned) ? padToTile(planned, this.#options) : planned;
    const call = { phase: 'prefill', rows: totalRows(rows), cells: cellsPerRow(rows, cellsInUse) } as const;
    return { phase: 'prefill', rows, expectedMs: costs.predict(call) };
  }

  #canFill(rows: readonly PlannedRow[]): boolean {
    const { costs, mostRows, canPad, together } = this.#options;
    return canPad && costs.readsByTile && mostRows >= ROW_TILE && (together || rows.length === 1);
  }

  observe(rows: readonly PlannedRow[], { ms, cellsInUse }: ObservedTime): void {
    this.#chunk.observePrefill(totalRows(rows), ms, cellsPerRow(rows, cellsInUse));
  }

  /** Above 0 only before a prefill so long that the wait is not noticed. */
  lingerMs(promptTokens: number): number {
    const prefillMs = promptTokens * (this.#options.costs.promptRowMs ?? 0);
    return this.#options.formsBursts && prefillMs >= LINGER_LIMITS.leastPrefillMs ? LINGER_LIMITS.mostMs : 0;
  }
}

const PREFILL = { kind: 'prefill', padding: 0 } as const;

/** Adds padding to the last row if that pays. Several sequences must share a pass. */
export function padToTile(
  rows: readonly PlannedRow[],
  { costs, numCtx }: { readonly costs: CostModel; readonly numCtx: number },
): PlannedRow[] {
  const last = rows.at(-1);
  const missing = ROW_TILE - totalRows(rows);
  if (last === undefined || missing <= 0 || last.position + rowCount(last) + missing > numCtx)
    return [...rows];
  const padded = [...rows.slice(0, -1), { ...last, padding: last.padding + missing }];
  const ms = (call: readonly PlannedRow[]): number =>
    costs.predict({ phase: 'prefill', rows: totalRows(call), cells: cellsPerRow(call, null) });
  return ms(padded) > WORTH_PADDING * ms(rows) ? [...rows] : padded;
}
