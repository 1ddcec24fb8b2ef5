/**
 * server/engine/upstream/http owns sockets to upstreams: kept connections, one exchange, its deadlines and its bounded body.
 * It knows nothing of models. It uses node:http because undici's last line for Node 20 ends the process when an
 * upstream closes a connection with an unread body (docs/decisions/2026-11-23-upstreams.md).
 */
import { type AgentOptions, Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Upstream } from '../ports.ts';
import { UPSTREAM_LIMITS } from '../limits.ts';

const KEPT = {
  keepAlive: true,
  maxFreeSockets: UPSTREAM_LIMITS.idleSockets,
  // We close idle connections first, so that a request rarely meets one that the upstream has just closed.
  timeout: UPSTREAM_LIMITS.idleMs,
  scheduling: 'lifo' as const,
};

interface Agents {
  readonly kept: HttpAgent;
  readonly fresh: HttpAgent;
}

/** One set of connections per upstream and authority: nothing of one upstream reaches another. */
export class Connections {
  readonly #agents = new Map<string, Agents>();
  /** Cache, so that the address is not parsed for every call. */
  readonly #last = new WeakMap<object, { readonly ca: string | null; readonly agents: Agents }>();

  async agentsFor(upstream: Pick<Upstream, 'name' | 'baseUrl' | 'ca'>): Promise<Agents> {
    const ca = await upstream.ca();
    const last = this.#last.get(upstream);
    if (last?.ca === ca) return last.agents;
    const agents = this.#findAgents(upstream, ca);
    this.#last.set(upstream, { ca, agents });
    return agents;
  }

  #findAgents({ name, baseUrl }: Pick<Upstream, 'name' | 'baseUrl'>, ca: string | null): Agents {
    const key = JSON.stringify([name, new URL(baseUrl).origin, ca]);
    const known = this.#agents.get(key);
    if (known !== undefined) return known;
    const agent = (options: AgentOptions): HttpAgent =>
      baseUrl.startsWith('https:')
        ? new HttpsAgent({ ...options, ...(ca === null ? {} : { ca }) })
        : new HttpAgent(options);
    const agents = { kept: agent(KEPT), fresh: agent({ keepAlive: false }) };
    this.#agents.set(key, agents);
    return agents;
  }

  close(): void {
    for (const { kept, fresh } of this.#agents.values()) {
      kept.destroy();
      fresh.destroy();
    }
    this.#agents.clear();
  }
}
