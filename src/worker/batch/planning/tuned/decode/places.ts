/**
 * Which decode rows can be in one native call, and what could be added to it. Sequences that share their KV cells share
 * every call: any rows are neighbours, and padding goes behind one of them. Sequences with windows of their own share a
 * pass only if their ids are consecutive, so the rows that can be added are fillers in idle neighbours. Pure.
 */
import type { IdleSequence, PlannedRow } from '../../step-planner.ts';
import { ROW_GROUP } from '../../tuning.ts';
import type { Place } from './decode-ways.ts';

export interface RowPlace {
  readonly place: Place;
  /** Of a row or a filler; null at a barrier and for padding. */
  readonly row: PlannedRow | null;
}

export interface PlaceRules {
  readonly numCtx: number;
  readonly canPad: boolean;
  readonly sharesCells: boolean;
  /** What reading the KV state of one earlier token costs one row. */
  readonly rowDepthMs: number;
}

/** In ascending order of sequence. */
export function placesOf(
  rows: readonly PlannedRow[],
  idle: readonly IdleSequence[],
  rules: PlaceRules,
): RowPlace[] {
  // One row by itself is the unit of all prices, and no call costs less.
  if (rows.length === 1) return rows.map(placeOf);
  return rules.sharesCells ? placesInShared(rows, rules) : placesById(rows, idle, rules);
}

/** The rows of one call, from its places. */
export function rowsIn(places: readonly RowPlace[]): PlannedRow[] {
  const rows = places.flatMap(({ row }) => row ?? []);
  const padding = places.length - rows.length;
  const shallowest = rows.indexOf(shallowestOf(rows));
  return padding === 0 ? rows : rows.map((row, i) => (i === shallowest ? { ...row, padding } : row));
}

function placesInShared(rows: readonly PlannedRow[], { numCtx, canPad, rowDepthMs }: PlaceRules): RowPlace[] {
  const { position } = shallowestOf(rows);
  const padding = { place: { kind: 'idle', idleMs: position * rowDepthMs }, row: null } as const;
  const fits = canPad && rows.every((row) => row.position + ROW_GROUP <= numCtx);
  return [...rows.map(placeOf), ...Array.from({ length: fits ? ROW_GROUP - 1 : 0 }, () => padding)];
}

function placesById(
  rows: readonly PlannedRow[],
  idle: readonly IdleSequence[],
  { numCtx, rowDepthMs }: PlaceRules,
): RowPlace[] {
  const bySequence = new Map(rows.map((row) => [row.sequence, row]));
  const fillable = new Map(
    idle.filter(({ position }) => position < numCtx).map((each) => [each.sequence, each]),
  );
  const ids = [...bySequence.keys()];
  const first = Math.min(...ids) - ROW_GROUP + 1;
  const count = Math.max(...ids) + ROW_GROUP - first;
  return Array.from({ length: count }, (_, i): RowPlace => {
    const row = bySequence.get(first + i);
    if (row !== undefined) return placeOf(row);
    const filled = fillable.get(first + i);
    if (filled === undefined) return { place: { kind: 'barrier', idleMs: 0 }, row: null };
    const { sequence, position } = filled;
    const filler: PlannedRow = { kind: 'filler', sequence, position, tokens: 1, padding: 0 };
    return { place: { kind: 'idle', idleMs: position * rowDepthMs }, row: filler };
  });
}

function placeOf(row: PlannedRow): RowPlace {
  return { place: { kind: 'row', idleMs: 0 }, row };
}

function shallowestOf(rows: readonly PlannedRow[]): PlannedRow {
  const [first] = [...rows].sort((a, b) => a.position - b.position);
  if (first === undefined) throw new Error('a call has no rows');
  return first;
}
