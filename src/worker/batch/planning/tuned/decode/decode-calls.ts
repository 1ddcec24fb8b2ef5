/**
 * worker/batch/planning/tuned/decode owns how the decode rows of a step are evaluated: in which native calls, with which drafts and padding,
 * by what such calls cost lately. It knows nothing of prompts or of where drafts come from.
 */
import {
  type DecodingSequence,
  type EvaluatedCall,
  type PlannedCall,
  type PlannedRow,
  rowsOf,
  type StepState,
} from '../../step-planner.ts';
import { CallPrices } from './call-prices.ts';
import { runsOf } from './decode-ways.ts';
import { draftCalls } from './draft-rows.ts';
import { placesOf, type PlaceRules, type RowPlace, rowsIn } from './places.ts';
import { WayChoice } from './way-choice.ts';

export interface DecodeOptions {
  readonly numCtx: number;
  /** 0: no drafts. */
  readonly maxDraftTokens: number;
  /** Rows that are evaluated and forgotten again may spare something. */
  readonly canPad: boolean;
  readonly sharesCells: boolean;
  /** Every row is a call by itself. */
  readonly apart: boolean;
  /** Otherwise all rows are one call. */
  readonly choosesWays: boolean;
}

export interface DecodeWork extends Pick<StepState, 'idle'> {
  readonly streams: readonly DecodingSequence[];
  /** Last tokens of prompts, which cost what a decode row does. */
  readonly ends: readonly PlannedRow[];
  /** A prompt waits: what would delay it, drafts and trials, has to wait. */
  readonly isAwaited: boolean;
}

export class DecodeCalls {
  readonly #options: DecodeOptions;
  readonly #prices = new CallPrices();
  readonly #ways = new WayChoice(this.#prices);

  constructor(options: DecodeOptions) {
    this.#options = options;
  }

  /** What a call of one row takes; null while none was seen. */
  get rowMs(): number | null {
    return this.#prices.price(1);
  }

  plan({ streams, ends, idle, isAwaited }: DecodeWork): PlannedCall[] {
    const rows = [...streams.map(decodeRow), ...ends].sort((a, b) => a.sequence - b.sequence);
    if (rows.length === 0) return [];
    if (this.#options.apart) return rows.map((row) => this.#call([row]));
    const table = placesOf(rows, this.#options.canPad ? idle : [], this.#placeRules);
    const drafted = isAwaited ? null : this.#drafted(streams, table);
    if (drafted !== null) return drafted;
    if (!this.#options.choosesWays) return [this.#call(rows)];
    const { spans } = this.#ways.choose(
      table.map(({ place }) => place),
      { mayTry: !isAwaited },
    );
    return spans.map(({ from, rows: count }) => this.#call(rowsIn(table.slice(from, from + count))));
  }

  observe({ rows, ms }: Pick<EvaluatedCall, 'rows' | 'ms'>): void {
    const total = rows.reduce((sum, row) => sum + rowsOf(row), 0);
    this.#prices.observe({ rows: total, depth: depthOf(rows), ms });
    this.#ways.observe(ms);
  }

  get #placeRules(): PlaceRules {
    const { numCtx, canPad, sharesCells } = this.#options;
    return { numCtx, canPad, sharesCells, rowDepthMs: this.#prices.rowDepthMs };
  }

  #drafted(streams: readonly DecodingSequence[], table: readonly RowPlace[]): PlannedCall[] | null {
    const { numCtx, maxDraftTokens, sharesCells, choosesWays } = this.#options;
    const most = Math.min(maxDraftTokens, ...streams.map(({ position }) => numCtx - 1 - position));
    if (most <= 0 || streams.every(({ draftTokens }) => draftTokens === 0)) return null;
    const places = table.map(({ place }) => place);
    const depthMs = this.#prices.rowDepthMs * streams.reduce((sum, { position }) => sum + position, 0);
    const prices = {
      plainMs: depthMs + (choosesWays ? this.#ways.best(places).ms : this.#prices.estimate(streams.length)),
      callMs: (count: number) => this.#prices.estimate(count),
      rowDepthMs: this.#prices.rowDepthMs,
    };
    const isOneRun = runsOf(places).length === 1;
    const together = sharesCells ? 'any lengths' : isOneRun ? 'equal lengths' : 'never';
    const calls = draftCalls(streams, prices, { most, together, apart: choosesWays });
    if (calls === null) return null;
    let at = 0;
    return calls.map(({ drafts, rows }) => {
      const group = streams.slice(at, at + drafts.length);
      at += drafts.length;
      return this.#call(
        group.map((stream, i) => {
          const drafted = drafts[i] ?? 0;
          return { ...decodeRow(stream), tokens: 1 + drafted, padding: (rows[i] ?? 0) - drafted };
        }),
      );
    });
  }

  #call(rows: readonly PlannedRow[]): PlannedCall {
    const total = rows.reduce((sum, row) => sum + rowsOf(row), 0);
    const expectedMs = this.#prices.estimate(total) + this.#prices.rowDepthMs * depthOf(rows);
    return { phase: 'decode', rows, expectedMs };
  }
}

/** Earlier tokens that the rows read together. */
function depthOf(rows: readonly PlannedRow[]): number {
  return rows.reduce((sum, row) => sum + row.position * rowsOf(row), 0);
}

/** The sampled token. */
function decodeRow({ sequence, position }: DecodingSequence): PlannedRow {
  return { kind: 'decode', sequence, position, tokens: 1, padding: 0 };
}
