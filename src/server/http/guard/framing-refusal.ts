/**
 * Responds once to bytes that are not a valid HTTP request, if the socket can still carry a response, and closes it.
 */
import {
  type IncomingHttpHeaders,
  type IncomingMessage,
  METHODS,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { Socket } from 'node:net';
import { fail } from '../../../lib/errors/svc-error.ts';
import { errorResponse } from '../error-response.ts';
import type { ChooseShape } from '../error-shape.ts';
import { answerWith, type RawAnswer, rawAnswer } from './raw-answer.ts';

type FramingCode =
  | 'bad_request'
  | 'tls_required'
  | 'headers_too_large'
  | 'request_timeout'
  | 'unknown_expectation';

const answers = new WeakMap<Socket, Set<ServerResponse>>();

export type CommonHeaders = (asked: IncomingHttpHeaders) => Readonly<Record<string, string>>;

export interface FramingWords {
  readonly common: CommonHeaders;
  readonly chooseShape: ChooseShape;
}

export function watchFraming(server: Server, maxBodyBytes: number, words: FramingWords): void {
  const refuse = (code: FramingCode, request: IncomingMessage, response: ServerResponse): void => {
    const { headers, ...refused } = refusal(code, words, request.headers);
    answerWith(response, { ...refused, headers: { ...headers, Connection: 'close' } });
  };
  standBefore(server, (request, response, inside) => {
    remember(request, response);
    if (METHODS.includes(request.method ?? '')) return inside(request, response);
    // The parser accepts PRI, the preface of HTTP/2, as a method, but fastify does not.
    refuse('bad_request', request, response);
  });
  // Without 100-continue, a client does not send a body that is too large.
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    if (!(Number(request.headers['content-length']) > maxBodyBytes)) response.writeContinue();
    server.emit('request', request, response);
  });
  // Not on the socket: a response to an earlier request may be under way there.
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    remember(request, response);
    refuse('unknown_expectation', request, response);
  });
}

function remember({ socket }: IncomingMessage, response: ServerResponse): void {
  const open = answers.get(socket) ?? new Set();
  answers.set(socket, open.add(response));
  response.once('close', () => open.delete(response));
}

export function refuseFraming(error: NodeJS.ErrnoException, socket: Socket, words: FramingWords): void {
  // A second head within a response would corrupt it.
  const hasBegun = [...(answers.get(socket) ?? [])].some((response) => response.headersSent);
  if (!socket.writable || hasBegun || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  socket.end(rawAnswer(refusal(framingCode(error), words, {})));
}

export const plainRefusal = (words: FramingWords): string => rawAnswer(refusal('tls_required', words, {}));

function refusal(
  code: FramingCode,
  { common, chooseShape }: FramingWords,
  asked: IncomingHttpHeaders,
): RawAnswer {
  const { status, headers, body } = errorResponse(fail(code), { shape: chooseShape({ headers: asked }) });
  return { status, reason: STATUS_CODES[status] ?? '', headers: { ...common(asked), ...headers }, body };
}

function framingCode(error: NodeJS.ErrnoException): FramingCode {
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'request_timeout';
  return error.code === 'HPE_HEADER_OVERFLOW' ? 'headers_too_large' : 'bad_request';
}

type Listener = (request: IncomingMessage, response: ServerResponse) => void;
type First = (request: IncomingMessage, response: ServerResponse, inside: Listener) => void;

function standBefore(server: Server, first: First): void {
  const [inside] = server.listeners('request') as Listener[];
  if (inside === undefined) throw new Error('nobody answers the requests of this server');
  server.removeAllListeners('request');
  server.on('request', (request: IncomingMessage, response: ServerResponse) =>
    first(request, response, inside),
  );
}
