/** Responses that fastify does not write: through node:http, or as bytes on sockets where node:http writes none. */
import type { ServerResponse } from 'node:http';

export interface RawAnswer {
  readonly status: number;
  readonly reason: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object;
}

export function rawAnswer({ status, reason, headers, body }: RawAnswer): string {
  const text = JSON.stringify(body);
  let head = `HTTP/1.1 ${status} ${reason}\r\nDate: ${new Date().toUTCString()}\r\n`;
  for (const name in headers) head += `${name}: ${headers[name]}\r\n`;
  const length = Buffer.byteLength(text);
  return `${head}Content-Type: application/json; charset=utf-8\r\nContent-Length: ${length}\r\nConnection: close\r\n\r\n${text}`;
}

export function answerWith(response: ServerResponse, { status, reason, headers, body }: RawAnswer): void {
  const text = JSON.stringify(body);
  response.writeHead(status, reason, {
    ...headers,
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
  });
  response.end(text);
}

/** The sentence as a reason phrase, because some clients print only the status line. */
export const reasonPhrase = (sentence: string): string =>
  sentence.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, 200);
