/** What arrives before or beside HTTP proper: one honest answer, if the socket can still carry one, and an end. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { serverBanner } from '../protocol/headers.ts';

const answers = new WeakMap<Socket, Set<ServerResponse>>();

/** Remembers the answers of each socket, and answers what node:http would answer without a body. */
export function watchFraming(server: Server, maxBodyBytes: number): void {
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const open = answers.get(socket) ?? new Set();
    answers.set(socket, open.add(response));
    response.once('close', () => open.delete(response));
  });
  // A body that will be refused for its size is not asked for.
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    if (!(Number(request.headers['content-length']) > maxBodyBytes)) response.writeContinue();
    server.emit('request', request, response);
  });
  server.on('checkExpectation', ({ socket }: IncomingMessage) => {
    socket.end(refusal('unknown_expectation'));
  });
}

export function refuseFraming(error: NodeJS.ErrnoException, socket: Socket): void {
  // A second head in the middle of an answer would corrupt it.
  const hasBegun = [...(answers.get(socket) ?? [])].some((response) => response.headersSent);
  if (!socket.writable || hasBegun || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  socket.end(refusal(error.code));
}

function refusal(code: string | undefined): string {
  const [status, name, sentence] = wordsFor(code);
  const body = JSON.stringify({
    error: sentence,
    message: sentence,
    type: 'invalid_request_error',
    code: name,
  });
  const head = [
    `HTTP/1.1 ${status}`,
    `Server: ${serverBanner}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'x-should-retry: false',
    'Connection: close',
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}

function wordsFor(code: string | undefined): readonly [string, string, string] {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return ['408 Request Timeout', 'request_timeout', 'The request did not arrive in time; send it again.'];
    case 'HPE_HEADER_OVERFLOW':
      return [
        '431 Request Header Fields Too Large',
        'headers_too_large',
        'The headers of the request are too large; send fewer or shorter ones.',
      ];
    case 'unknown_expectation':
      return [
        '417 Expectation Failed',
        'unknown_expectation',
        'Only Expect: 100-continue is understood; leave the header out.',
      ];
    default:
      return [
        '400 Bad Request',
        'bad_request',
        'The bytes received are not a usable HTTP/1.1 request; check the client or proxy in between.',
      ];
  }
}
