/** What a request and its answer said, word for word: only while the user asks for it, and never a key or a cookie. */
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { RECORDER_LIMITS } from '../../api/requests/recorder.ts';
import type { RequestText } from '../../wire/operation/requests.ts';
import { rawBody } from '../guard/json-body.ts';

const SECRET_HEADERS = new Set(['authorization', 'x-api-key', 'cookie', 'set-cookie', 'proxy-authorization']);

type Message = RequestText['request'];

/** Copies what is written from now on; the returned function tells all of it once the response is over. */
export function captureText(request: FastifyRequest, reply: FastifyReply): () => RequestText {
  const answer = copyOfWrites(reply.raw);
  return () => ({
    path: request.url.slice(0, 2_000),
    request: message(request.headers, rawBody(request)?.toString('utf8') ?? ''),
    response: message(reply.getHeaders(), answer()),
  });
}

function copyOfWrites(raw: ServerResponse): () => string {
  const pieces: Buffer[] = [];
  let bytes = 0;
  const keep = (chunk: unknown): void => {
    if (bytes > RECORDER_LIMITS.bodyChars || !(typeof chunk === 'string' || Buffer.isBuffer(chunk))) return;
    const piece = Buffer.from(chunk);
    pieces.push(piece);
    bytes += piece.length;
  };
  const { write, end } = raw;
  raw.write = function copied(this: ServerResponse, ...given: unknown[]) {
    keep(given[0]);
    return Reflect.apply(write, this, given) as boolean;
  } as typeof write;
  raw.end = function copied(this: ServerResponse, ...given: unknown[]) {
    keep(given[0]);
    return Reflect.apply(end, this, given) as ServerResponse;
  } as typeof end;
  return () => Buffer.concat(pieces).toString('utf8');
}

function message(
  headers: IncomingHttpHeaders | NodeJS.Dict<number | string | string[]>,
  body: string,
): Message {
  const told = Object.entries(headers).filter(([name]) => !SECRET_HEADERS.has(name.toLowerCase()));
  return {
    headers: Object.fromEntries(told.map(([name, value]) => [name, String(value)])),
    body: body.slice(0, RECORDER_LIMITS.bodyChars),
    truncated: body.length > RECORDER_LIMITS.bodyChars,
  };
}
