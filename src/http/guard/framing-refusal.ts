/** Bytes that are not a valid HTTP request: one honest answer, if the socket can still carry one, and an end. */
import {
  type IncomingHttpHeaders,
  type IncomingMessage,
  METHODS,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { Socket } from 'node:net';
import { fail } from '../../lib/errors/svc-error.ts';
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

/** Headers of every answer; `asked` are the request's headers, as far as they were read. */
export type CommonHeaders = (asked: IncomingHttpHeaders) => Readonly<Record<string, string>>;

/** Writes what every refusal carries. */
export interface FramingWords {
  readonly common: CommonHeaders;
  readonly chooseShape: ChooseShape;
}

/** Remembers the answers of each socket, and answers what node:http would answer without a body. */
export function watchFraming(server: Server, maxBodyBytes: number, words: FramingWords): void {
  standBefore(server, (request, response, inside) => {
    const { socket, method = '' } = request;
    const open = answers.get(socket) ?? new Set();
    answers.set(socket, open.add(response));
    response.once('close', () => open.delete(response));
    if (METHODS.includes(method)) return inside(request, response);
    // The parser reads PRI, the preface of HTTP/2, as a method; fastify knows no such method.
    const { headers, ...refused } = refusal('bad_request', words, request.headers);
    answerWith(response, { ...refused, headers: { ...headers, Connection: 'close' } });
  });
  // Without 100-continue, a client does not send a body that its size excludes.
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    if (!(Number(request.headers['content-length']) > maxBodyBytes)) response.writeContinue();
    server.emit('request', request, response);
  });
  server.on('checkExpectation', ({ socket, headers }: IncomingMessage) => {
    socket.end(rawAnswer(refusal('unknown_expectation', words, headers)));
  });
}

export function refuseFraming(error: NodeJS.ErrnoException, socket: Socket, words: FramingWords): void {
  // A second head in the middle of an answer would corrupt it.
  const hasBegun = [...(answers.get(socket) ?? [])].some((response) => response.headersSent);
  if (!socket.writable || hasBegun || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  socket.end(rawAnswer(refusal(framingCode(error), words, {})));
}

/** For a client that speaks plain http to the TLS port. */
export const plainRefusal = (words: FramingWords): string => rawAnswer(refusal('tls_required', words, {}));

function refusal(
  code: FramingCode,
  { common, chooseShape }: FramingWords,
  asked: IncomingHttpHeaders,
): RawAnswer {
  const { status, headers, body } = errorResponse(fail(code), { shape: chooseShape({ headers: asked }) });
  return { status, reason: STATUS_CODES[status] ?? '', headers: { ...common(asked), ...headers }, body };
}

/** The parser error of node:http as one of our codes. */
function framingCode(error: NodeJS.ErrnoException): FramingCode {
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'request_timeout';
  return error.code === 'HPE_HEADER_OVERFLOW' ? 'headers_too_large' : 'bad_request';
}

type Listener = (request: IncomingMessage, response: ServerResponse) => void;
type First = (request: IncomingMessage, response: ServerResponse, inside: Listener) => void;

/** Puts `first` before the one listener for requests that `server` has, which it calls or answers in place of. */
function standBefore(server: Server, first: First): void {
  const [inside] = server.listeners('request') as Listener[];
  if (inside === undefined) throw new Error('nobody answers the requests of this server');
  server.removeAllListeners('request');
  server.on('request', (request: IncomingMessage, response: ServerResponse) =>
    first(request, response, inside),
  );
}
