import { setMaxListeners } from 'node:events';
import { isFailure } from '../../../../lib/errors/svc-error.ts';
import { readAll, readJson } from '../http/body.ts';
import { type Exchange, exchange, type ExchangeDeps } from '../http/exchange.ts';
import { type AnswerLimits, FACTS_LIMITS, LIST_LIMITS, UPSTREAM_LIMITS } from '../limits.ts';
import type { Upstream } from '../ports.ts';

const DEADLINES = {
  connectMs: UPSTREAM_LIMITS.askMs,
  firstByteMs: UPSTREAM_LIMITS.askMs,
  stallMs: UPSTREAM_LIMITS.askMs,
  wholeMs: UPSTREAM_LIMITS.askMs,
};

export class Ask {
  readonly #deps: ExchangeDeps;
  readonly #signal: AbortSignal;

  constructor(deps: ExchangeDeps, signal: AbortSignal) {
    this.#deps = deps;
    this.#signal = signal;
    setMaxListeners(UPSTREAM_LIMITS.models, signal);
  }

  async json(
    upstream: Upstream,
    url: string,
    { body, limits = FACTS_LIMITS }: { readonly body?: object; readonly limits?: AnswerLimits } = {},
  ): Promise<unknown> {
    return readJson(await this.#send(upstream, url, body), limits);
  }

  /** Undefined if the upstream has no such route. */
  async tryJson(upstream: Upstream, url: string, body?: object): Promise<unknown> {
    try {
      return await this.json(upstream, url, body === undefined ? {} : { body });
    } catch (error) {
      if (isFailure(error, 'cancelled', 'upstream_unreachable', 'upstream_timeout')) throw error;
      return undefined;
    }
  }

  async tryText(upstream: Upstream, url: string): Promise<string | undefined> {
    try {
      const page = await readAll(await this.#send(upstream, url), UPSTREAM_LIMITS.pageBytes);
      return page.toString('utf8');
    } catch (error) {
      if (isFailure(error, 'cancelled', 'upstream_unreachable', 'upstream_timeout')) throw error;
      return undefined;
    }
  }

  async alive(upstream: Upstream, url: string): Promise<void> {
    await readAll(await this.#send(upstream, url), LIST_LIMITS.bytes);
  }

  async server(upstream: Upstream, url: string): Promise<string> {
    const answer = await this.#send(upstream, url);
    const name = String(answer.response.headers['server'] ?? '');
    await readAll(answer, LIST_LIMITS.bytes);
    return name;
  }

  #send(upstream: Upstream, url: string, body?: object): Promise<Exchange> {
    return exchange(this.#deps, {
      upstream,
      url,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      model: null,
      signal: this.#signal,
      deadlines: DEADLINES,
    });
  }
}
