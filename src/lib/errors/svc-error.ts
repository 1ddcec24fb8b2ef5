import { type ErrorCode, type ErrorDetail, entryOf } from './catalogue.ts';

const brand = Symbol.for('hearth.SvcError');

/** The one error class: a code of the catalogue, its detail, and what caused it. `{code, detail}` may cross IPC. */
export class SvcError extends Error {
  readonly code: ErrorCode;
  readonly detail: ErrorDetail;

  constructor(code: ErrorCode, detail: ErrorDetail, cause?: unknown) {
    super(entryOf(code).message(detail), cause === undefined ? undefined : { cause });
    this.name = 'SvcError';
    this.code = code;
    this.detail = detail;
    Object.defineProperty(this, brand, { value: true });
  }
}

/** Makes the error of a code; always used as `throw fail(…)` so that control flow stays visible. */
export function fail(code: ErrorCode, detail: ErrorDetail = {}, cause?: unknown): SvcError {
  return new SvcError(code, detail, cause);
}

/** True for a SvcError of any copy of this module, as the server and its tests may hold two. */
export function isSvcError(value: unknown): value is SvcError {
  return typeof value === 'object' && value !== null && Reflect.get(value, brand) === true;
}
