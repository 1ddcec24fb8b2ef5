/** The one error class outside the CLI, created by `fail` and tested with `isSvcError` and `isFailure`. */
import { catalogue, type DetailOf, type ErrorCode, errorSentence } from './catalogue.ts';
import { pickDetail } from './entry.ts';

const brand = Symbol.for('hearth.SvcError');

class CodedError<C extends ErrorCode> extends Error {
  readonly code: C;
  readonly detail: DetailOf<C>;

  constructor(code: C, detail: DetailOf<C>, cause: unknown) {
    super(errorSentence(code, detail), cause === undefined ? undefined : { cause });
    this.name = 'SvcError';
    this.code = code;
    this.detail = detail;
    Object.defineProperty(this, brand, { value: true });
  }
}

export type SvcError<C extends ErrorCode = ErrorCode> = C extends ErrorCode ? CodedError<C> : never;

type DetailForAny<C extends ErrorCode> = (
  C extends ErrorCode
    ? (detail: DetailOf<C>) => void
    : never
) extends (detail: infer D) => void
  ? D
  : never;

type FailureArgs<D> =
  Record<string, never> extends D ? [detail?: D, cause?: unknown] : [detail: D, cause?: unknown];

/** Write `throw fail(…)`, which keeps control flow visible. */
export function fail<C extends ErrorCode>(code: C, ...args: FailureArgs<DetailForAny<C>>): SvcError<C>;
export function fail(code: ErrorCode, ...args: readonly unknown[]): SvcError {
  const [detail = {}, cause] = args;
  return new CodedError(code, detail as DetailOf<ErrorCode>, cause) as SvcError;
}

export function reviveFailure<C extends ErrorCode>(
  code: C,
  detail: Readonly<Record<string, unknown>>,
): SvcError<C> | null {
  const picked = pickDetail(catalogue[code].members, detail);
  return picked === null ? null : (new CodedError(code, picked as DetailOf<C>, undefined) as SvcError<C>);
}

/** Also true for another copy of this module, because the server and its tests may load two. */
export function isSvcError(value: unknown): value is SvcError {
  return typeof value === 'object' && value !== null && Reflect.get(value, brand) === true;
}

export function isFailure<C extends ErrorCode>(value: unknown, ...codes: readonly C[]): value is SvcError<C> {
  return isSvcError(value) && codes.some((code) => code === value.code);
}

export function errorReason(error: SvcError): string {
  return ('reason' in error.detail ? error.detail.reason : undefined) ?? error.message;
}

export const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));

export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
