import { writeJson } from '../../lib/json/spelled-numbers.ts';
import type { Family } from '../../lib/errors/entry.ts';
import type {
  Dialect,
  ErrorBody,
  LlamaServerErrorBody,
  MessagesErrorBody,
  ResponsesErrorBody,
} from '../../wire/error.ts';
import { HEADERS } from '../../wire/headers.ts';
import type { ErrorShape } from './error-shape.ts';

export interface Failure {
  readonly body: Omit<ErrorBody, 'error'>;
  readonly family: Family;
  readonly status: number;
  readonly requestId: string;
  readonly overflow: { readonly promptTokens: number; readonly numCtx: number } | null;
}

export interface DialectFraming {
  readonly contentType: string;
  errorBody(failure: Failure): object;
  frame(event: object): string;
  errorFrame(failure: Failure, eventsSent: number): string;
  /** Text for people that clients ignore; empty if the dialect has no place for it. */
  comment(text: string): string;
  readonly ping: string;
  readonly end: string;
  headers(requestId: string): Readonly<Record<string, string>>;
}

export const EVENT_STREAM = 'text/event-stream; charset=utf-8';

const events: Pick<DialectFraming, 'contentType' | 'comment'> = {
  contentType: EVENT_STREAM,
  comment: (text) => `: ${text.replaceAll(/[\r\n]+/g, ' ')}\n\n`,
};

const data = (value: object): string => `data: ${writeJson(value)}\n\n`;
const named = (value: object): string => `event: ${String(Reflect.get(value, 'type'))}\n${data(value)}`;

const native: DialectFraming = {
  ...events,
  errorBody: ({ body }): ErrorBody => ({ error: body.message, ...body }),
  frame: data,
  errorFrame: (failure) => data(native.errorBody(failure)),
  ping: ': ping\n\n',
  end: 'data: [DONE]\n\n',
  headers: () => ({}),
};

const openAiError = ({ message, type, param, code }: Failure['body']) => ({
  message,
  type,
  param: param ?? null,
  code,
});

const openAi: DialectFraming = {
  ...native,
  // Clients look for `error` at the start of a frame.
  errorBody: ({ body }): ErrorBody => ({ error: openAiError(body), ...body }),
  errorFrame: (failure) => data(openAi.errorBody(failure)),
};

const MESSAGES_TYPE: Record<Family, string> = {
  request: 'invalid_request_error',
  not_found: 'not_found_error',
  method: 'invalid_request_error',
  conflict: 'invalid_request_error',
  too_large: 'request_too_large',
  media_type: 'invalid_request_error',
  http_version: 'invalid_request_error',
  headers: 'invalid_request_error',
  expectation: 'invalid_request_error',
  timeout: 'timeout_error',
  auth: 'authentication_error',
  forbidden: 'permission_error',
  busy: 'rate_limit_error',
  unavailable: 'overloaded_error',
  engine: 'api_error',
  store: 'overloaded_error',
  cancelled: 'api_error',
  bug: 'api_error',
};

/** Makes a client of the dialect continue without a thread. */
const NO_THREADS = { error_code: 'thread_unsupported_request', unsupported: ['thread'] };

/** Clients shorten a conversation automatically when they read exactly this text. */
const overflowWords = (overflow: Failure['overflow']): string =>
  overflow === null
    ? ''
    : `prompt is too long: ${overflow.promptTokens} tokens > ${overflow.numCtx} maximum. `;

const messages: DialectFraming = {
  ...events,
  errorBody: ({ body: { message, code, param }, family, requestId, overflow }): MessagesErrorBody => ({
    type: 'error',
    error: {
      type: MESSAGES_TYPE[family],
      message: overflowWords(overflow) + message,
      code,
      ...(param === undefined ? {} : { param }),
      ...(code === 'thread_unsupported' ? { details: NO_THREADS } : {}),
    },
    request_id: requestId,
  }),
  frame: named,
  errorFrame: (failure) => named(messages.errorBody(failure)),
  ping: named({ type: 'ping' }),
  end: '',
  headers: (requestId) => ({ [HEADERS.messagesRequestId]: requestId }),
};

const responses: DialectFraming = {
  ...events,
  errorBody: ({ body }): ResponsesErrorBody => ({ error: openAiError(body) }),
  frame: named,
  errorFrame: ({ body: { message, code, param } }, eventsSent) =>
    named({ type: 'error', code, message, param: param ?? null, sequence_number: eventsSent }),
  ping: ': ping\n\n',
  end: '',
  headers: () => ({}),
};

const llamaServer: DialectFraming = {
  ...events,
  errorBody: ({ body: { message, type }, status, overflow }): LlamaServerErrorBody => ({
    error: {
      code: status,
      message,
      ...(overflow === null
        ? { type }
        : {
            type: 'exceed_context_size_error',
            n_prompt_tokens: overflow.promptTokens,
            n_ctx: overflow.numCtx,
          }),
    },
  }),
  frame: data,
  errorFrame: (failure) => data(llamaServer.errorBody(failure)),
  ping: ': ping\n\n',
  end: '',
  headers: () => ({}),
};

const line = (value: object): string => `${writeJson(value)}\n`;

const ollama: DialectFraming = {
  contentType: 'application/x-ndjson',
  errorBody: native.errorBody,
  frame: line,
  errorFrame: (failure) => line(native.errorBody(failure)),
  comment: () => '',
  // Clients parse each line, so a blank line would break them; white space before a value does not.
  ping: ' ',
  end: '',
  headers: () => ({}),
};

const framing: Record<Dialect, DialectFraming> = {
  native,
  messages,
  responses,
  'llama-server': llamaServer,
  ollama,
};

export function framingFor(dialect: Dialect | undefined, shape: ErrorShape = 'string'): DialectFraming {
  const isNative = dialect === undefined || dialect === 'native';
  return isNative && shape === 'object' ? openAi : framing[dialect ?? 'native'];
}
