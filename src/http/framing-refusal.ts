/** Bytes that are no HTTP request: one honest answer, if the socket can still carry one, and a closed socket. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { serverBanner } from '../protocol/headers.ts';

const answering = new WeakMap<Socket, number>();

/** Counts the answers under way on each socket, because a second head in the middle of one would corrupt it. */
export function noteAnswers(server: Server): void {
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    answering.set(socket, (answering.get(socket) ?? 0) + 1);
    response.once('close', () => answering.set(socket, (answering.get(socket) ?? 1) - 1));
  });
}

export function refuseFraming(error: NodeJS.ErrnoException, socket: Socket): void {
  const isBusy = (answering.get(socket) ?? 0) > 0;
  if (!socket.writable || isBusy || error.code === 'ECONNRESET') {
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
    default:
      return [
        '400 Bad Request',
        'bad_request',
        'The bytes received are not a usable HTTP/1.1 request; check the client or proxy in between.',
      ];
  }
}
