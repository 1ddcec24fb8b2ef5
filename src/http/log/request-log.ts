/**
 * http/log owns the one line that the log has for each request. It knows no bodies: no text of a prompt or an answer, no
 * key and no header is in it, and of what a client wrote only the path and the model, once that is known to be installed.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { RequestAccount } from '../../api/caller.ts';
import type { Clock } from '../../lib/base/clock.ts';
import type { Logger } from '../../lib/base/logger.ts';
import { entryOf } from '../../lib/errors/catalogue.ts';
import type { Family } from '../../lib/errors/entry.ts';
import type { SvcError } from '../../lib/errors/svc-error.ts';
import { clientKey } from '../client-key.ts';

/** Sentences of these may repeat what the client wrote; their code says enough. */
const ABOUT_CONTENT: ReadonlySet<Family> = new Set(['request', 'not_found', 'method']);
/** Asked for every few seconds by those who watch; at info they would bury the rest. */
const POLLED = new Set(['/health', '/metrics']);

const entries = new WeakMap<FastifyRequest, RequestEntry>();

/** Writes the line when the response is over, however it ends. */
export function logRequests(app: FastifyInstance, { log, clock }: { log: Logger; clock: Clock }): void {
  app.addHook('onRequest', async (request, reply) => {
    const entry = new RequestEntry(clock);
    entries.set(request, entry);
    reply.raw.once('close', () => entry.write(request, reply, log));
  });
}

/** Where a use case notes what it learns of a request. */
export function accountOf(request: FastifyRequest): RequestAccount | undefined {
  return entries.get(request);
}

/** Why a request failed, also when its status has left already. */
export function noteFailure(request: FastifyRequest, error: SvcError): void {
  entries.get(request)?.failed(error);
}

class RequestEntry implements RequestAccount {
  readonly #clock: Clock;
  readonly #begin: number;
  readonly #facts: Record<string, string | number> = {};
  #failure: SvcError | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#begin = clock.monotonicMs();
  }

  onModel(id: string): void {
    this.#facts['model'] = id;
  }

  onEvent(event: Parameters<RequestAccount['onEvent']>[0]): void {
    if (event.type === 'started') this.#facts['waitMs'] ??= this.#elapsed();
    if (event.type === 'embedded' || event.type === 'ranked') this.#facts['promptTokens'] = event.totalTokens;
    if (event.type !== 'done') return;
    const { usage, timings, finishReason } = event;
    const written = Number(this.#facts['completionTokens'] ?? 0);
    Object.assign(this.#facts, {
      promptTokens: usage.promptTokens,
      cachedTokens: usage.cachedTokens,
      completionTokens: written + usage.completionTokens,
      prefillMs: Math.round(timings.prefillMs),
      decodeMs: Math.round(timings.decodeMs),
      finishReason,
    });
  }

  failed(error: SvcError): void {
    this.#failure = error;
  }

  write(request: FastifyRequest, { raw }: FastifyReply, log: Logger): void {
    const { url: path } = request.routeOptions;
    const line = {
      method: request.method,
      route: path ?? request.url.replace(/\?.*/s, '').slice(0, 200),
      // Whoever left before the head has seen no status; 499 is the usual word for it.
      status: raw.headersSent ? raw.statusCode : 499,
      ms: this.#elapsed(),
      ...this.#facts,
      ...this.#outcome(raw.writableFinished),
      requestId: request.id,
      client: clientKey(request),
    };
    if ('error' in line && line.error !== 'cancelled') log.warn(line, 'request failed');
    else if (path !== undefined && POLLED.has(path)) log.debug(line, 'request');
    else log.info(line, 'request');
  }

  #outcome(isWhole: boolean): Record<string, string> {
    if (this.#failure === null) return isWhole ? {} : { error: 'cancelled' };
    const { code, detail, message } = this.#failure;
    const param = 'param' in detail && detail.param !== undefined ? { param: detail.param.slice(0, 80) } : {};
    const reason = ABOUT_CONTENT.has(entryOf(code).family) ? {} : { reason: message.slice(0, 300) };
    return { error: code, ...param, ...reason };
  }

  #elapsed(): number {
    return Math.round(this.#clock.monotonicMs() - this.#begin);
  }
}
