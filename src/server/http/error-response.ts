/** The only place that knows HTTP statuses: a failure becomes status, headers and ErrorBody here. */
import { catalogueEntry, mayRetry } from '../../lib/errors/catalogue.ts';
import type { Family } from '../../lib/errors/entry.ts';
import { fail, isFailure, isSvcError, type SvcError } from '../../lib/errors/svc-error.ts';
import type { Dialect } from '../../wire/error.ts';
import { HEADERS } from '../../wire/headers.ts';
import { type Failure, framingFor } from './framing.ts';
import type { ErrorShape } from './error-shape.ts';

export const STATUS_OF: Record<Family, number> = {
  request: 400,
  not_found: 404,
  method: 405,
  conflict: 409,
  too_large: 413,
  media_type: 415,
  http_version: 505,
  headers: 431,
  expectation: 417,
  timeout: 408,
  auth: 401,
  forbidden: 403,
  busy: 429,
  unavailable: 503,
  engine: 500,
  store: 503,
  cancelled: 499,
  bug: 500,
};

const TYPE_OF: Record<Family, string> = {
  request: 'invalid_request_error',
  not_found: 'invalid_request_error',
  method: 'invalid_request_error',
  conflict: 'invalid_request_error',
  too_large: 'invalid_request_error',
  media_type: 'invalid_request_error',
  http_version: 'invalid_request_error',
  headers: 'invalid_request_error',
  expectation: 'invalid_request_error',
  timeout: 'invalid_request_error',
  auth: 'authentication_error',
  forbidden: 'permission_error',
  busy: 'rate_limit_error',
  unavailable: 'unavailable_error',
  engine: 'server_error',
  store: 'unavailable_error',
  cancelled: 'cancelled_error',
  bug: 'server_error',
};

export interface ErrorResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object;
  readonly sentence: string;
}

export interface Refusal {
  readonly dialect?: Dialect | undefined;
  readonly requestId?: string;
  readonly shape: ErrorShape;
}

/** Any other error is a bug, and clients get none of its details. */
export function asSvcError(thrown: unknown): SvcError {
  return isSvcError(thrown) ? thrown : fail('internal', {}, thrown);
}

function errorFields(error: SvcError): Failure['body'] {
  return {
    message: oneLine(error.message),
    type: TYPE_OF[catalogueEntry(error.code).family],
    code: error.code,
    ...('param' in error.detail && error.detail.param !== undefined ? { param: error.detail.param } : {}),
  };
}

/** Client-chosen names may occur in a sentence; their line breaks and escapes must not reach a terminal or log. */
function oneLine(sentence: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are exactly what is replaced here
  return sentence.toWellFormed().replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, '\ufffd');
}

export function describeFailure(error: SvcError, requestId: string): Failure {
  const overflow = isFailure(error, 'context_length_exceeded') ? error.detail : null;
  const { family } = catalogueEntry(error.code);
  return { body: errorFields(error), family, status: STATUS_OF[family], requestId, overflow };
}

export function errorResponse(error: SvcError, refusal?: Refusal): ErrorResponse {
  const { family } = catalogueEntry(error.code);
  const { detail } = error;
  const retryable = mayRetry(error);
  const soon = retryable && (family === 'unavailable' || family === 'busy') ? 1 : undefined;
  const failure = describeFailure(error, refusal?.requestId ?? '');
  const retryAfter = 'retryAfterS' in detail ? detail.retryAfterS : soon;
  return {
    status: STATUS_OF[family],
    headers: {
      [HEADERS.errorCode]: error.code,
      ...(retryable ? {} : { [HEADERS.shouldRetry]: 'false' }),
      ...(retryAfter === undefined
        ? {}
        : { [HEADERS.retryAfter]: String(Math.max(1, Math.ceil(retryAfter))) }),
      ...('allow' in detail ? { Allow: detail.allow } : {}),
    },
    body: framingFor(refusal?.dialect, refusal?.shape).errorBody(failure),
    sentence: failure.body.message,
  };
}
