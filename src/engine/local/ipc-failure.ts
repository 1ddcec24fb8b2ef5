/** Rebuilds an error from what crossed the channel; a code that the catalogue does not know becomes `internal`. */
import type { IpcFailure } from '../../contract/ipc.ts';
import { catalogue, type ErrorCode, type ErrorDetail } from '../../lib/errors/catalogue.ts';
import { fail, type SvcError } from '../../lib/errors/svc-error.ts';

const maxChars = 2_000;

export function errorOfFailure(failure: IpcFailure, modelId: string): SvcError {
  if (!isCode(failure.code)) {
    return fail('internal', {}, new Error(`unknown code of a worker: ${failure.code.slice(0, 100)}`));
  }
  return fail(failure.code, { model: modelId, ...plain(failure.detail) });
}

function isCode(code: string): code is ErrorCode {
  return Object.hasOwn(catalogue, code);
}

/** Only short primitive values pass, as messages are made of them. */
function plain(detail: Record<string, unknown>): ErrorDetail {
  const kept: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(detail)) {
    if (typeof value === 'string') kept[key] = value.slice(0, maxChars);
    else if (typeof value === 'number' || typeof value === 'boolean') kept[key] = value;
  }
  return kept;
}
