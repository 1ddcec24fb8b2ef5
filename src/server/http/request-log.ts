/**
 * The log line and the recorder entry of each request. A line holds no text of a prompt or an answer, no key and no
 * header. It holds three strings of the client: the path, its own name, and an installed model. Only the recorder
 * gets text, while the user requests it.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { RequestAccount } from '../api/caller.ts';
import { type FinishedRequest, type RequestRecorder, RECORDER_LIMITS } from '../api/requests/recorder.ts';
import type { Clock } from '../../lib/base/clock.ts';
import type { Logger } from '../../lib/base/logger.ts';
import { catalogueEntry } from '../../lib/errors/catalogue.ts';
import type { Family } from '../../lib/errors/entry.ts';
import type { SvcError } from '../../lib/errors/svc-error.ts';
import type { RequestText } from '../../wire/operation/requests.ts';
import { clientKey, clientName } from './client-key.ts';
import { RequestEntry } from '../api/requests/request-entry.ts';
import { keyHolder, requestOwner } from './hooks.ts';
import { traceId, upstreamFacts } from './upstream-headers.ts';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { rawBody } from './guard/json-body.ts';

interface RequestSpan {
  readonly traceparent: string;
  end(request: FinishedRequest): void;
}

export interface RequestLogParts {
  readonly log: Logger;
  readonly clock: Clock;
  readonly recorder: Pick<RequestRecorder, 'add' | 'wantsText'>;
  readonly tracing: {
    begin(headers: FastifyRequest['headers'], startedMs: number): RequestSpan;
  } | null;
  readonly metrics: {
    countRequest(request: {
      readonly route: string;
      readonly status: number;
      readonly error: string | null;
      readonly wasAdmitted: boolean;
    }): void;
  };
}

/** Their sentences may quote the client, so only their code is logged. */
const ABOUT_CONTENT: ReadonlySet<Family> = new Set(['request', 'not_found', 'method']);

const entries = new WeakMap<FastifyRequest, RequestEntry>();
const spans = new WeakMap<FastifyRequest, RequestSpan>();

export function logRequests(
  app: FastifyInstance,
  { log, clock, recorder, metrics, tracing }: RequestLogParts,
): void {
  app.addHook('onRequest', async (request, reply) => {
    const entry = new RequestEntry(clock);
    entries.set(request, entry);
    const isPolled = request.routeOptions.config.access?.polled === true;
    const readText =
      recorder.wantsText && !isPolled ? captureText(request, reply) : (): RequestText | null => null;
    const span = isPolled ? undefined : tracing?.begin(request.headers, entry.startedMs);
    if (span !== undefined) spans.set(request, span);
    reply.raw.once('close', () => {
      const owner = requestOwner(request) ?? '';
      const finished = finishedRequest(request, reply, { entry, owner });
      span?.end(finished);
      writeLine(log, { finished, entry, isPolled });
      metrics.countRequest({
        // An unknown path must not become a metric label.
        route: request.routeOptions.url ?? 'none',
        status: finished.status,
        error: finished.error ?? null,
        wasAdmitted: entry.waitMs !== null,
      });
      if (!isPolled) recorder.add(finished, readText(), owner);
    });
  });
}

export function requestAccount(request: FastifyRequest): RequestAccount | undefined {
  return entries.get(request);
}

export function requestTraceparent(request: FastifyRequest): string | undefined {
  return spans.get(request)?.traceparent;
}

/** The first failure counts; a later one is what it caused. */
export function noteFailure(request: FastifyRequest, error: SvcError): void {
  const entry = entries.get(request);
  if (entry !== undefined) entry.failure ??= error;
}

function finishedRequest(
  request: FastifyRequest,
  reply: FastifyReply,
  { entry, owner }: { readonly entry: RequestEntry; readonly owner: string },
): FinishedRequest {
  const { raw } = reply;
  const { url: path, config } = request.routeOptions;
  const name = clientName(request);
  const key = keyHolder(request)?.record.name;
  const dialect = config.access?.dialect;
  const trace = traceId(request, spans.get(request)?.traceparent);
  const error = entry.failure?.code ?? (raw.writableFinished ? undefined : 'cancelled');
  return {
    request_id: request.id,
    started_ms: entry.startedMs,
    method: request.method,
    route: path ?? request.url.replace(/\?.*/s, '').slice(0, 200),
    ...(dialect === undefined ? {} : { dialect }),
    stream: String(reply.getHeader('content-type')).startsWith('text/event-stream'),
    // A client that left before the head has seen no status; 499 is the usual code for it.
    status: raw.headersSent ? raw.statusCode : 499,
    ...(error === undefined ? {} : { error }),
    client: clientKey(request, owner),
    ...(name === '' ? {} : { client_name: name }),
    ...(key === undefined ? {} : { key }),
    ...(trace === undefined ? {} : { trace_id: trace }),
    total_ms: entry.elapsedMs,
    ...upstreamFacts(request),
    ...entry.counts,
  };
}

interface Line {
  readonly finished: FinishedRequest;
  readonly entry: RequestEntry;
  readonly isPolled: boolean;
}

function writeLine(log: Logger, { finished, entry, isPolled }: Line): void {
  const line = present({
    method: finished.method,
    route: finished.route,
    dialect: finished.dialect,
    status: finished.status,
    ms: finished.total_ms,
    model: finished.model,
    upstream: finished.upstream,
    insteadOf: finished.instead_of,
    because: finished.because,
    waitMs: entry.waitMs,
    queueMs: finished.queue_ms,
    loadMs: finished.load_ms,
    grammarMs: finished.grammar_ms,
    firstMs: finished.first_ms,
    prefillMs: finished.prefill_ms,
    decodeMs: finished.decode_ms,
    checkMs: finished.check_ms,
    promptTokens: finished.prompt_tokens,
    cachedTokens: finished.cached_tokens,
    completionTokens: finished.completion_tokens,
    draftedTokens: finished.drafted_tokens,
    acceptedTokens: finished.accepted_tokens,
    finishReason: finished.finish_reason,
    error: finished.error,
    ...failureFacts(entry.failure, finished.status),
    requestId: finished.request_id,
    traceId: finished.trace_id,
    client: finished.client,
    clientName: finished.client_name,
    key: finished.key,
  });
  if (finished.error !== undefined && finished.error !== 'cancelled') log.warn(line, 'request failed');
  else if (isPolled) log.debug(line, 'request');
  else log.info(line, 'request');
}

/** The sentence, unless it may quote the client; for faults of the service also the stack. */
function failureFacts(failure: SvcError | null, status: number): Record<string, string | undefined> {
  if (failure === null) return {};
  const { code, detail, message } = failure;
  const param = 'param' in detail ? detail.param?.slice(0, 80) : undefined;
  const isAboutContent = ABOUT_CONTENT.has(catalogueEntry(code).family);
  return {
    param,
    reason: isAboutContent ? undefined : message.slice(0, 300),
    stack: status >= 500 && !isAboutContent ? stackFrames(failure) : undefined,
  };
}

/** Without the messages: that of a cause may quote a client. */
function stackFrames(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  const cause = stackFrames(error.cause);
  return [error.name, ...frames, ...(cause === undefined ? [] : [`caused by ${cause}`])].join('\n');
}

function present(facts: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(facts).filter(([, value]) => value !== undefined && value !== null),
  );
}

const SECRET_HEADERS = new Set(['authorization', 'x-api-key', 'cookie', 'set-cookie', 'proxy-authorization']);

type Message = RequestText['request'];

function captureText(request: FastifyRequest, reply: FastifyReply): () => RequestText {
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
  const shown = Object.entries(headers).filter(([name]) => !SECRET_HEADERS.has(name.toLowerCase()));
  return {
    headers: Object.fromEntries(shown.map(([name, value]) => [name, String(value)])),
    body: body.slice(0, RECORDER_LIMITS.bodyChars),
    truncated: body.length > RECORDER_LIMITS.bodyChars,
  };
}
