/**
 * The end of a prompt deep in a conversation: fewer rows than a tile read the KV cache once per row, a whole tile reads it once.
 * So rows that are forgotten at once fill the tile where that costs less. Pure.
 */
import type { CostModel } from '../../cost-model.ts';
import { cellsPerRow, type PlannedRow, rowCount, totalRows } from '../../step-planner.ts';
import { ROW_TILE, WORTH_PADDING } from '../../tuning.ts';

/** The same rows, the last with padding if that pays. Several sequences must share a pass. */
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
