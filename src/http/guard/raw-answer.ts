/** Answers that fastify does not write: by node:http, or as bytes for sockets on which that writes none. */
import type { ServerResponse } from 'node:http';

export interface RawAnswer {
  readonly status: number;
  /** Reason phrase of the status line. */
  readonly reason: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object;
}

/** The whole answer, of a connection that ends with it. */
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

/** A sentence for a status line: clients that only print that line still show why. */
export const reasonPhrase = (sentence: string): string =>
  sentence.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, 200);
