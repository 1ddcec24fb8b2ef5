import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../api/caller.ts';
import type { FinishedRequest } from '../api/requests/recorder.ts';
import { HEADERS, headerValue, REQUEST_HEADERS, SESSION_HEADERS } from '../../wire/headers.ts';

const TRACEPARENT = /^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}$/;
const TRACESTATE = /^[\x20-\x7e]{1,512}$/;
const SESSION = /^[\x21-\x7e]{1,256}$/;
const MOST_PATIENCE_S = 86_400;

type Sent = Parameters<NonNullable<NonNullable<Caller['route']>['onSent']>>[0];

interface Sending {
  /** The one that the header names: a resumption comes after it. */
  readonly first: Sent;
  readonly last: Sent;
}

const sendings = new WeakMap<FastifyRequest, Sending>();

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
    onSent: (sent) => {
      const { first } = (sent.isResumed === true && sendings.get(request)) || { first: sent };
      sendings.set(request, { first, last: sent });
    },
    patienceMs: patienceS > 0 && patienceS <= MOST_PATIENCE_S ? patienceS * 1_000 : undefined,
  };
}

export function setUpstreamHeader(reply: FastifyReply): void {
  const sending = sendings.get(reply.request);
  if (sending === undefined) return;
  const { name, insteadOf, because } = sending.first;
  const instead = insteadOf === undefined ? '' : `; instead-of="${insteadOf}"; because="${because}"`;
  reply.header(HEADERS.upstream, `${name}${instead}`);
}

export function upstreamFacts(
  request: FastifyRequest,
): Pick<FinishedRequest, 'upstream' | 'instead_of' | 'because'> {
  const sending = sendings.get(request);
  if (sending === undefined) return {};
  const { name: upstream, insteadOf: instead_of, because } = sending.last;
  return {
    upstream,
    ...(instead_of === undefined ? {} : { instead_of }),
    ...(because === undefined ? {} : { because }),
  };
}

/** Of the span of this request, else of the client's `traceparent`. */
export function traceId(request: FastifyRequest, span?: string): string | undefined {
  const traceparent = span ?? headerValue(request.headers, REQUEST_HEADERS.traceparent);
  return traceparent !== undefined && TRACEPARENT.test(traceparent) ? traceparent.split('-')[1] : undefined;
}
