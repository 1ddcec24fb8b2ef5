/** Evaluates the rows of one step in one native call, and finds the guilty one when that fails. */
import type { NativeContext } from '../addon/native.ts';
import type { Row } from './stream/row.ts';
import type { Turnstile } from './turnstile.ts';

/** A context, and what its decode calls pass. */
export interface Evaluator {
  readonly context: NativeContext;
  readonly turnstile: Turnstile;
}

/** Per sequence: the batch rows of the logits wanted, or why it could not be evaluated. */
export type RowResult = { readonly logitRows: readonly number[] } | FailedRow;

interface FailedRow {
  readonly error: unknown;
  /** Whether the sequence holds what it held before; if not, it holds nothing that is known. */
  readonly restored: boolean;
}

export interface RowHandler {
  /** Called when all threads of the engine rest but those that sample. */
  onEvaluated?(): void;
  /** Awaited before anything else is evaluated, because that would overwrite the logits. */
  onResult(row: Row, result: RowResult): Promise<void>;
}

/** Tells the handler of every row, also when the step failed as a whole. */
export async function evaluateRows(
  evaluator: Evaluator,
  rows: readonly Row[],
  handler: RowHandler,
): Promise<void> {
  // Ascending ids: llama.cpp only then keeps the sequences together in one micro-batch.
  const ordered = [...rows].sort((a, b) => a.sequence - b.sequence);
  let found: number[][];
  try {
    found = await evaluateBatch(evaluator, ordered);
  } catch (error) {
    return evaluateApart(evaluator, ordered, error, handler);
  }
  // Sampling comes first, because it needs this thread only to be started.
  const results = Promise.all(ordered.map((row, i) => handler.onResult(row, { logitRows: found[i] ?? [] })));
  handler.onEvaluated?.();
  await results;
}

/**
 * One bad row fails a whole batch without saying which: alone, only the bad one fails. A row whose sequence could not
 * be restored would be evaluated on top of what is left of the first try, so it fails with the batch.
 */
async function evaluateApart(
  evaluator: Evaluator,
  rows: readonly Row[],
  error: unknown,
  handler: RowHandler,
): Promise<void> {
  const failed = rows.map((row) => ({ row, result: { error, restored: forget(evaluator, row) } }));
  for (const { row, result } of failed) {
    const again = result.restored && rows.length > 1;
    await handler.onResult(row, again ? await evaluateAlone(evaluator, row) : result);
  }
}

async function evaluateAlone(evaluator: Evaluator, row: Row): Promise<RowResult> {
  try {
    return { logitRows: (await evaluateBatch(evaluator, [row]))[0] ?? [] };
  } catch (error) {
    return { error, restored: forget(evaluator, row) };
  }
}

async function evaluateBatch(evaluator: Evaluator, rows: readonly Row[]): Promise<number[][]> {
  const { context, turnstile } = evaluator;
  context.initBatch(rows.reduce((sum, row) => sum + row.tokens.length + (row.padding ?? 0), 0));
  const found = rows.map((row) => {
    const first = row.tokens.length - row.logits;
    const logitsOf = Uint32Array.from({ length: row.logits }, (_, i) => first + i);
    return [...context.addToBatch(row.sequence, row.position, padded(row), logitsOf)];
  });
  await turnstile.pass(() => context.decodeBatch());
  for (const row of rows)
    if (row.padding) forget(evaluator, { ...row, position: row.position + row.tokens.length });

  return found;
}

function padded({ tokens, padding = 0 }: Row): Uint32Array {
  if (padding === 0) return tokens;
  const longer = new Uint32Array(tokens.length + padding).fill(tokens.at(-1) ?? 0);
  longer.set(tokens);
  return longer;
}

/** No trace of a row may stay in the memory; after a failure some micro-batches may have run. */
function forget({ context }: Evaluator, row: Row): boolean {
  return context.cutSequence(row.sequence, row.position);
}
