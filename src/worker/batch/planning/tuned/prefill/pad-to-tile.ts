/**
 * The end of a prompt deep in a conversation: fewer rows than a tile read the KV cache once per row, a whole tile reads it once.
 * So rows that are forgotten at once fill the tile where that costs less. Pure.
 */
import { type PlannedRow, rowsOf } from '../../step-planner.ts';
import { ROW_TILE, TILE_COSTS } from '../../tuning.ts';

/** The same rows, the last with padding if that pays. Of several sequences, all must share a pass. */
export function padToTile(rows: readonly PlannedRow[], numCtx: number): PlannedRow[] {
  const last = rows.at(-1);
  const total = rows.reduce((sum, row) => sum + rowsOf(row), 0);
  const missing = ROW_TILE - total;
  if (last === undefined || missing <= 0 || last.position + rowsOf(last) + missing > numCtx) return [...rows];
  const depth = Math.max(...rows.map(({ position }) => position));
  const apart = total * (1 + depth / TILE_COSTS.rowDoublesAt);
  const together = ROW_TILE * (1 + depth / TILE_COSTS.tileDoublesAt);
  if (together > TILE_COSTS.worth * apart) return [...rows];
  return [...rows.slice(0, -1), { ...last, padding: last.padding + missing }];
}
