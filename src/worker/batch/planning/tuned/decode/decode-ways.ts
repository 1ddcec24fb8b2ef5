/**
 * Ways to evaluate the decode rows of a step: all in one call, one call per stream, or groups of any size, each call
 * with rows to spare where a larger one is cheaper. The cheapest by the prices of calls wins. Pure.
 */
import { ROW_GROUP } from '../../tuning.ts';

/** Where a row is, or could be. One call evaluates neighbouring places. */
export interface Place {
  /** An idle place may take part, and is forgotten at once; a barrier parts two calls. */
  readonly kind: 'row' | 'idle' | 'barrier';
  /** What an idle place costs by the KV state that it reads. */
  readonly idleMs: number;
}

/** The places of one call. */
export interface Span {
  readonly from: number;
  readonly rows: number;
}

export interface Way {
  readonly spans: readonly Span[];
  readonly ms: number;
}

export interface WayPrices {
  /** Of a call of so many rows; null where nobody knows. */
  readonly price: (rows: number) => number | null;
  /** Rows that calls may have. */
  readonly sizes: readonly number[];
}

/** The cheapest way to evaluate every row; null where the prices say nothing. */
export function cheapestWay(places: readonly Place[], prices: WayPrices): Way | null {
  const calls = prices.sizes.flatMap((rows) => {
    const ms = prices.price(rows);
    return ms === null || rows > places.length ? [] : [{ rows, ms }];
  });
  const idleMs = sumsOf(places, ({ kind, idleMs: ms }) => (kind === 'idle' ? ms : 0));
  const rowsUntil = sumsOf(places, ({ kind }) => (kind === 'row' ? 1 : 0));
  const barriersUntil = sumsOf(places, ({ kind }) => (kind === 'barrier' ? 1 : 0));
  const within = (sums: readonly number[], from: number, to: number): number =>
    (sums[to] ?? 0) - (sums[from] ?? 0);
  const best: (Way | null)[] = [{ spans: [], ms: 0 }];
  for (let to = 1; to <= places.length; to += 1) {
    let cheapest = places[to - 1]?.kind === 'row' ? null : (best[to - 1] ?? null);
    for (const { rows, ms } of calls) {
      const from = to - rows;
      const before = best[from];
      if (before === null || before === undefined) continue;
      if (within(barriersUntil, from, to) > 0 || within(rowsUntil, from, to) === 0) continue;
      const total = before.ms + ms + within(idleMs, from, to);
      if (cheapest === null || total < cheapest.ms)
        cheapest = { spans: [...before.spans, { from, rows }], ms: total };
    }
    best.push(cheapest);
  }
  return best[places.length] ?? null;
}

/** Lengths of the runs of neighbouring rows: what each call would have if all were evaluated together. */
export function runsOf(places: readonly Place[]): Span[] {
  const runs: Span[] = [];
  for (const [at, { kind }] of places.entries()) {
    if (kind !== 'row') continue;
    const last = runs.at(-1);
    if (last !== undefined && last.from + last.rows === at)
      runs.splice(-1, 1, { ...last, rows: last.rows + 1 });
    else runs.push({ from: at, rows: 1 });
  }
  return runs;
}

/** Rows per call that are worth knowing the price of: halves and doublings, all together, and a group that lacks one row. */
export function sizesWorthTrying(places: readonly Place[]): number[] {
  const sizes = new Set<number>();
  const canPad = places.some(({ kind }) => kind === 'idle');
  for (const { rows } of runsOf(places)) {
    for (let size = 1; size < rows; size *= 2) sizes.add(size);
    sizes.add(rows).add(Math.ceil(rows / 2));
    if (canPad && rows % ROW_GROUP === ROW_GROUP - 1) sizes.add(rows + 1);
  }
  return [...sizes];
}

/** Where one call of so many rows fits in, with as few idle places as there can be. */
export function spanOf(rows: number, places: readonly Place[]): Span | null {
  const found = places.flatMap((_, from) => {
    const part = places.slice(from, from + rows);
    const fits = part.length === rows && part.every(({ kind }) => kind !== 'barrier');
    return fits ? [{ from, rows, busy: part.filter(({ kind }) => kind === 'row').length }] : [];
  });
  const [best] = found.sort((a, b) => b.busy - a.busy);
  return best === undefined || best.busy <= rows - ROW_GROUP ? null : { from: best.from, rows };
}

function sumsOf(places: readonly Place[], value: (place: Place) => number): number[] {
  const sums = [0];
  for (const place of places) sums.push((sums.at(-1) ?? 0) + value(place));
  return sums;
}
