import type { CostModel } from './cost-model.ts';
import {
  cellsPerRow,
  type DecodingSequence,
  type PlannedCall,
  type PlannedRow,
  totalRows,
} from './step-planner.ts';
import { WORTH_PARTING } from './tuning.ts';
import { draftRows } from './draft-rows.ts';

interface DecodeOptions {
  readonly costs: CostModel;
  readonly numCtx: number;
  readonly maxDraftTokens: number;
  readonly sharesCells: boolean;
  readonly apart: boolean;
}

interface DecodeWork {
  readonly cellsInUse: number | null;
  readonly streams: readonly DecodingSequence[];
  readonly ends: readonly PlannedRow[];
  /** No prompt waits that drafts would delay. */
  readonly mayDraft: boolean;
}

export class DecodeCalls {
  readonly #options: DecodeOptions;

  constructor(options: DecodeOptions) {
    this.#options = options;
  }

  plan({ streams, ends, mayDraft, cellsInUse }: DecodeWork): PlannedCall[] {
    const rows = [...streams.map(decodeRow), ...ends].sort((a, b) => a.sequence - b.sequence);
    const callMs = (call: readonly PlannedRow[], count = totalRows(call)): number =>
      this.#options.costs.predict({ phase: 'decode', rows: count, cells: cellsPerRow(call, cellsInUse) });
    const groups = this.#groups(rows);
    const drafted = mayDraft && groups.length === 1 ? this.#drafted(streams, callMs) : null;
    const calls = drafted === null ? groups.flatMap((group) => this.#parts(group, callMs)) : [drafted];
    return calls.map((call) => ({ phase: 'decode', rows: call, expectedMs: callMs(call) }));
  }

  #groups(rows: readonly PlannedRow[]): readonly (readonly PlannedRow[])[] {
    if (this.#options.apart) return rows.map((row) => [row]);
    if (!this.#options.sharesCells) return neighbours(rows);
    return rows.length === 0 ? [] : [rows];
  }

  /**
   * Two rows can cost more than two calls, as with Q8_0 weights. That is measured again once their time is forgotten.
   */
  #parts(call: readonly PlannedRow[], callMs: CallMs): readonly (readonly PlannedRow[])[] {
    return this.#apartMs(call, callMs) < WORTH_PARTING * callMs(call) ? call.map((row) => [row]) : [call];
  }

  #apartMs(rows: readonly PlannedRow[], callMs: CallMs): number {
    const { sharesCells, costs } = this.#options;
    const isKnown = sharesCells && costs.seen({ phase: 'decode', rows: 1 }) > 0;
    return isKnown ? rows.reduce((ms, row) => ms + callMs([row]), 0) : Number.POSITIVE_INFINITY;
  }

  #drafted(streams: readonly DecodingSequence[], callMs: CallMs): readonly PlannedRow[] | null {
    const { numCtx, maxDraftTokens, sharesCells } = this.#options;
    const most = Math.min(maxDraftTokens, ...streams.map(({ position }) => numCtx - 1 - position));
    if (most <= 0) return null;
    const plain = streams.map(decodeRow);
    const known = new Map<number, number>();
    const rowsMs = (rows: number): number => {
      const ms = known.get(rows) ?? callMs(plain, rows);
      known.set(rows, ms);
      return ms;
    };
    const plainMs = Math.min(callMs(plain), this.#apartMs(plain, callMs));
    const found = draftRows(streams, rowsMs, { most, isEqual: !sharesCells, plainMs });
    if (found === null) return null;
    return streams.map((stream, i) => {
      const drafts = found.drafts[i] ?? 0;
      return { ...decodeRow(stream), tokens: 1 + drafts, padding: (found.rows[i] ?? 0) - drafts };
    });
  }
}

type CallMs = (rows: readonly PlannedRow[], count?: number) => number;

/** Sequences with windows of their own share a pass only if their ids are consecutive. */
function neighbours(rows: readonly PlannedRow[]): PlannedRow[][] {
  const runs: PlannedRow[][] = [];
  for (const row of rows) {
    const run = runs.at(-1);
    if (run?.at(-1)?.sequence === row.sequence - 1) run.push(row);
    else runs.push([row]);
  }
  return runs;
}

function decodeRow({ sequence, position }: DecodingSequence): PlannedRow {
  return { kind: 'decode', sequence, position, tokens: 1, padding: 0 };
}
