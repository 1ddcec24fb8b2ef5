/**
 * http/log owns what is kept of each request: its line in the log and its place in the recorder. It knows no bodies: no
 * text of a prompt or an answer, no key and no header is in a line, and of what a client wrote only the path, the name
 * that it gives itself, and the model, once that is known to be installed. Text is for the recorder alone, when asked for.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { RequestAccount } from '../../api/caller.ts';
import type { FinishedRequest, RequestRecorder } from '../../api/requests/recorder.ts';
import type { Clock } from '../../lib/base/clock.ts';
import type { Logger } from '../../lib/base/logger.ts';
import { catalogueEntry } from '../../lib/errors/catalogue.ts';
import type { Family } from '../../lib/errors/entry.ts';
import type { SvcError } from '../../lib/errors/svc-error.ts';
import type { RequestText } from '../../wire/operation/requests.ts';
import { clientKey, clientName } from '../client-key.ts';
import { RequestEntry } from '../../api/requests/request-entry.ts';
import { keyHolder, requestOwner } from '../hooks.ts';
import { captureText } from './text-capture.ts';

interface RequestSpan {
  readonly traceparent: string;
  end(request: FinishedRequest): void;
}

export interface RequestLogParts {
  readonly log: Logger;
  readonly clock: Clock;
  readonly recorder: Pick<RequestRecorder, 'add' | 'wantsText'>;
  /** Null: no traces are wanted. */
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

/** Sentences of these may repeat what the client wrote; their code says enough. */
const ABOUT_CONTENT: ReadonlySet<Family> = new Set(['request', 'not_found', 'method']);

const entries = new WeakMap<FastifyRequest, RequestEntry>();
const spans = new WeakMap<FastifyRequest, RequestSpan>();

/** Keeps account of every request, and writes it down when the response is over, however it ends. */
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
        // What a client made up is no label.
        route: request.routeOptions.url ?? 'none',
        status: finished.status,
        error: finished.error ?? null,
        wasAdmitted: entry.waitMs !== null,
      });
      if (!isPolled) recorder.add(finished, readText(), owner);
    });
  });
}

/** Where a use case notes what it learns of a request. */
export function requestAccount(request: FastifyRequest): RequestAccount | undefined {
  return entries.get(request);
}

/** What a service that is asked on behalf of the request continues; undefined while no traces are wanted. */
export function requestTraceparent(request: FastifyRequest): string | undefined {
  return spans.get(request)?.traceparent;
}

/** Why a request failed, also when its status has left already. */
export function noteFailure(request: FastifyRequest, error: SvcError): void {
  const entry = entries.get(request);
  if (entry !== undefined) entry.failure = error;
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
  const error = entry.failure?.code ?? (raw.writableFinished ? undefined : 'cancelled');
  return {
    request_id: request.id,
    started_ms: entry.startedMs,
    method: request.method,
    route: path ?? request.url.replace(/\?.*/s, '').slice(0, 200),
    ...(dialect === undefined ? {} : { dialect }),
    stream: String(reply.getHeader('content-type')).startsWith('text/event-stream'),
    // Whoever left before the head has seen no status; 499 is the usual word for it.
    status: raw.headersSent ? raw.statusCode : 499,
    ...(error === undefined ? {} : { error }),
    client: clientKey(request, owner),
    ...(name === '' ? {} : { client_name: name }),
    ...(key === undefined ? {} : { key }),
    total_ms: entry.elapsedMs,
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
    client: finished.client,
    clientName: finished.client_name,
    key: finished.key,
  });
  if (finished.error !== undefined && finished.error !== 'cancelled') log.warn(line, 'request failed');
  else if (isPolled) log.debug(line, 'request');
  else log.info(line, 'request');
}

/** Why it failed, where that cannot repeat the client, and for faults of the service where in the program. */
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

/** Without the messages: that of a cause may quote what a client sent. */
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
