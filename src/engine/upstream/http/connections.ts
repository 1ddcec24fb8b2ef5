/**
 * engine/upstream/http owns sockets to upstreams: kept connections, one exchange, its deadlines and its bounded body.
 * It knows nothing of models. node:http and not undici, whose last line for Node 20 ends the process when an upstream
 * closes a connection while its body waits to be read (docs/decisions/2026-11-23-upstreams.md).
 */
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Upstream } from '../ports.ts';
import { UPSTREAM_LIMITS } from '../limits.ts';

const KEPT = {
  keepAlive: true,
  maxFreeSockets: UPSTREAM_LIMITS.idleSockets,
  // An idle connection is given up by us first, so that a request rarely meets one that the upstream has just closed.
  timeout: UPSTREAM_LIMITS.idleMs,
  scheduling: 'lifo' as const,
};

/** One set of connections per upstream and authority: what one upstream left behind reaches no other. */
export class Connections {
  readonly #agents = new Map<string, HttpAgent>();
  /** The last one of each, so that its address is not taken apart for every call. */
  readonly #last = new WeakMap<object, { readonly ca: string | null; readonly agent: HttpAgent }>();

  async agentFor(upstream: Pick<Upstream, 'name' | 'baseUrl' | 'ca'>): Promise<HttpAgent> {
    const ca = await upstream.ca();
    const last = this.#last.get(upstream);
    if (last?.ca === ca) return last.agent;
    const agent = this.#agentOf(upstream, ca);
    this.#last.set(upstream, { ca, agent });
    return agent;
  }

  #agentOf({ name, baseUrl }: Pick<Upstream, 'name' | 'baseUrl'>, ca: string | null): HttpAgent {
    const key = JSON.stringify([name, new URL(baseUrl).origin, ca]);
    const known = this.#agents.get(key);
    if (known !== undefined) return known;
    const agent = baseUrl.startsWith('https:')
      ? new HttpsAgent({ ...KEPT, ...(ca === null ? {} : { ca }) })
      : new HttpAgent(KEPT);
    this.#agents.set(key, agent);
    return agent;
  }

  close(): void {
    for (const agent of this.#agents.values()) agent.destroy();
    this.#agents.clear();
  }
}
