import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../api/caller.ts';
import { HEADERS, headerValue, REQUEST_HEADERS, SESSION_HEADERS } from '../../wire/headers.ts';

const TRACEPARENT = /^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}$/;
const TRACESTATE = /^[\x20-\x7e]{1,512}$/;
const SESSION = /^[\x21-\x7e]{1,256}$/;
const MOST_PATIENCE_S = 86_400;

const answering = new WeakMap<FastifyRequest, string>();

/** `span`: traceparent of this request's own span; undefined: the client's is passed on unchanged. */
export function readRoute(request: FastifyRequest, span?: string): NonNullable<Caller['route']> {
  const { headers } = request;
  const read = (name: string, shape: RegExp): string | undefined => {
    const value = headerValue(headers, name);
    return value !== undefined && shape.test(value) ? value : undefined;
  };
  const session = SESSION_HEADERS.flatMap((name) => read(name, SESSION) ?? [])[0];
  const localOnly = headerValue(headers, REQUEST_HEADERS.localOnly);
  const patienceS = Number(read(REQUEST_HEADERS.clientTimeout, /^\d{1,6}(\.\d+)?$/) ?? Number.NaN);
  const asked = read(REQUEST_HEADERS.traceparent, TRACEPARENT);
  return {
    traceparent: span ?? asked,
    tracestate: asked === undefined ? undefined : read(REQUEST_HEADERS.tracestate, TRACESTATE),
    session,
    isLocalOnly: localOnly !== undefined && localOnly !== '0' && localOnly !== 'false',
    onSent: ({ name, insteadOf, because }) => {
      const instead = insteadOf === undefined ? '' : `; instead-of="${insteadOf}"; because="${because}"`;
      answering.set(request, `${name}${instead}`);
    },
    patienceMs: patienceS > 0 && patienceS <= MOST_PATIENCE_S ? patienceS * 1_000 : undefined,
  };
}

export function setUpstreamHeader(reply: FastifyReply): void {
  const upstream = answering.get(reply.request);
  if (upstream !== undefined) reply.header(HEADERS.upstream, upstream);
}
