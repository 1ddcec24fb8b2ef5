import type { NativeContext } from '../native.ts';
import type { Row } from './stream/row.ts';

export type RowResult = { readonly logitRows: readonly number[] } | FailedRow;

interface FailedRow {
  readonly error: unknown;
  /** Whether the sequence holds its earlier state; if not, its state is unknown. */
  readonly restored: boolean;
}

interface RowHandler {
  onEvaluated?(): void;
  /** Read the logits of the rows here: the next evaluation overwrites them. */
  onResult(row: Row, result: RowResult): void;
}

export function evaluateRows(context: NativeContext, rows: readonly Row[], handler: RowHandler): void {
  // Only with ascending ids does llama.cpp keep the sequences together in one micro-batch.
  const ordered = [...rows].sort((a, b) => a.sequence - b.sequence);
  let found: number[][];
  try {
    found = evaluateBatch(context, ordered);
  } catch (error) {
    return evaluateApart(context, { rows: ordered, error }, handler);
  }
  handler.onEvaluated?.();
  for (const [i, row] of ordered.entries()) handler.onResult(row, { logitRows: found[i] ?? [] });
}

/**
 * Evaluates rows alone: a bad row fails its whole batch without being named. A row whose sequence could not be
 * restored fails with the batch, because it would be evaluated after the remains of the first try.
 */
function evaluateApart(
  context: NativeContext,
  { rows, error }: { readonly rows: readonly Row[]; readonly error: unknown },
  handler: RowHandler,
): void {
  const failed = rows.map((row) => ({ row, result: { error, restored: forget(context, row) } }));
  for (const { row, result } of failed) {
    const again = result.restored && rows.length > 1;
    handler.onResult(row, again ? evaluateAlone(context, row) : result);
  }
}

function evaluateAlone(context: NativeContext, row: Row): RowResult {
  try {
    return { logitRows: evaluateBatch(context, [row])[0] ?? [] };
  } catch (error) {
    return { error, restored: forget(context, row) };
  }
}

function evaluateBatch(context: NativeContext, rows: readonly Row[]): number[][] {
  const [first] = rows;
  if (first?.medium !== undefined) {
    context.decodeRows({ ...first.medium, sequence: first.sequence });
    return [[]];
  }
  context.initBatch(rows.reduce((sum, row) => sum + row.tokens.length + (row.padding ?? 0), 0));
  const found = rows.map((row) => {
    const first = row.tokens.length - row.logits;
    const wantedLogits = Uint32Array.from({ length: row.logits }, (_, i) => first + i);
    return [...context.addToBatch(row.sequence, nativePosition(row), padded(row), wantedLogits)];
  });
  context.decodeBatch();
  for (const row of rows)
    if (row.padding) forget(context, { ...row, position: row.position + row.tokens.length });

  return found;
}

function padded({ tokens, padding = 0 }: Row): Uint32Array {
  if (padding === 0) return tokens;
  const longer = new Uint32Array(tokens.length + padding).fill(tokens.at(-1) ?? 0);
  longer.set(tokens);
  return longer;
}

/** No trace of a row may stay in the memory; after a failure some micro-batches may have run. */
function forget(context: NativeContext, row: Row): boolean {
  return context.cutSequence(row.sequence, nativePosition(row));
}

const nativePosition = ({ position, spared = 0 }: Row): number => position - spared;
