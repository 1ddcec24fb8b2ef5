/** The one error class of the program outside the CLI, made by `fail` and recognised by `isSvcError` and `isFailure`. */
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

/** A failure of the catalogue; comparing `code` narrows `detail`. `{code, detail}` may cross IPC. */
export type SvcError<C extends ErrorCode = ErrorCode> = C extends ErrorCode ? CodedError<C> : never;

/** For a code that is one of several, what satisfies each of them. */
type DetailForAny<C extends ErrorCode> = (
  C extends ErrorCode
    ? (detail: DetailOf<C>) => void
    : never
) extends (detail: infer D) => void
  ? D
  : never;

/** The detail may be left out where the code needs none. */
type FailureArgs<D> =
  Record<string, never> extends D ? [detail?: D, cause?: unknown] : [detail: D, cause?: unknown];

/** Makes the error of a code; always used as `throw fail(…)`, which keeps control flow visible. */
export function fail<C extends ErrorCode>(code: C, ...args: FailureArgs<DetailForAny<C>>): SvcError<C>;
export function fail(code: ErrorCode, ...args: readonly unknown[]): SvcError {
  const [detail = {}, cause] = args;
  return new CodedError(code, detail as DetailOf<ErrorCode>, cause) as SvcError;
}

/** The error reported by another process, or null if its detail is incomplete or has a wrong type. */
export function reviveFailure<C extends ErrorCode>(
  code: C,
  detail: Readonly<Record<string, unknown>>,
): SvcError<C> | null {
  const picked = pickDetail(catalogue[code].members, detail);
  return picked === null ? null : (new CodedError(code, picked as DetailOf<C>, undefined) as SvcError<C>);
}

/** True for a SvcError of any copy of this module, as the server and its tests may hold two. */
export function isSvcError(value: unknown): value is SvcError {
  return typeof value === 'object' && value !== null && Reflect.get(value, brand) === true;
}

export function isFailure<C extends ErrorCode>(value: unknown, ...codes: readonly C[]): value is SvcError<C> {
  return isSvcError(value) && codes.some((code) => code === value.code);
}

/** The cause that the failure names, without the sentence around it. */
export function errorReason(error: SvcError): string {
  return ('reason' in error.detail ? error.detail.reason : undefined) ?? error.message;
}

/** Message of any thrown value; libraries may throw values that are not errors. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
