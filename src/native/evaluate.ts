/** Evaluates the rows of one step in one native call, and finds the guilty one when that fails. */
import type { NativeContext } from './internals.ts';

export interface Row {
  readonly sequence: number;
  /** Position of the first token in the sequence. */
  readonly position: number;
  readonly tokens: Uint32Array;
  /** Whether the logits of the last token are wanted. */
  readonly logits: boolean;
  /** Rows evaluated behind the tokens and forgotten at once; what comes later never changes what came before. */
  readonly padding?: number;
}

/** Per sequence: the batch row of its logits (-1 when none were wanted), or why it could not be evaluated. */
export type RowResult = { readonly row: number } | { readonly error: unknown };

const NO_LOGITS = new Uint32Array();

export interface RowHandler {
  /** Called when all threads of the engine rest but those that sample. */
  onEvaluated?(): void;
  /** Awaited before anything else is evaluated, because that would overwrite the logits. */
  onResult(row: Row, result: RowResult): Promise<void>;
}

/** Tells the handler of every row, also when the step failed as a whole. */
export async function evaluateRows(
  native: NativeContext,
  rows: readonly Row[],
  handler: RowHandler,
): Promise<void> {
  // Ascending ids: llama.cpp only then keeps the sequences together in one micro-batch.
  const ordered = [...rows].sort((a, b) => a.sequence - b.sequence);
  let found: number[];
  try {
    found = await evaluateBatch(native, ordered);
  } catch (error) {
    forget(native, ordered);
    if (ordered.length === 1 && ordered[0] !== undefined) return handler.onResult(ordered[0], { error });
    return evaluateApart(native, ordered, handler);
  }
  // Sampling comes first, because it needs this thread only to be started.
  const results = Promise.all(ordered.map((row, i) => handler.onResult(row, { row: found[i] ?? -1 })));
  handler.onEvaluated?.();
  await results;
}

/** One bad row fails a whole batch without saying which: alone, only the bad one fails. */
async function evaluateApart(
  native: NativeContext,
  rows: readonly Row[],
  handler: RowHandler,
): Promise<void> {
  for (const row of rows) {
    let result: RowResult;
    try {
      result = { row: (await evaluateBatch(native, [row]))[0] ?? -1 };
    } catch (error) {
      forget(native, [row]);
      result = { error };
    }
    await handler.onResult(row, result);
  }
}

async function evaluateBatch(native: NativeContext, rows: readonly Row[]): Promise<number[]> {
  native.initBatch(rows.reduce((sum, row) => sum + row.tokens.length + (row.padding ?? 0), 0));
  const found = rows.map((row) => {
    const logitsOf = row.logits ? Uint32Array.of(row.tokens.length - 1) : NO_LOGITS;
    return native.addToBatch(row.sequence, row.position, padded(row), logitsOf)[0] ?? -1;
  });
  await native.decodeBatch();
  for (const row of rows) {
    if (row.padding) forget(native, [{ ...row, position: row.position + row.tokens.length }]);
  }
  return found;
}

function padded({ tokens, padding = 0 }: Row): Uint32Array {
  if (padding === 0) return tokens;
  const longer = new Uint32Array(tokens.length + padding).fill(tokens.at(-1) ?? 0);
  longer.set(tokens);
  return longer;
}

/** No trace of these rows may stay in the KV cache; after a failure some micro-batches may have run. */
function forget(native: NativeContext, rows: readonly Row[]): void {
  for (const row of rows) native.removeTokenCellsFromSequence(row.sequence, row.position, -1);
}
