/** Upstreams as a verb asks them, without a server. */
import { Connections } from '../../engine/upstream/http/connections.ts';
import { createProbe, type Detector } from '../../engine/upstream/look/probe.ts';
import type { Upstream, UpstreamProbe } from '../../engine/upstream/ports.ts';
import { systemClock } from '../../lib/base/clock.ts';
import { prove } from './prove-upstream.ts';

export interface OwnProbe extends UpstreamProbe, Detector {
  /** Rejects with upstream_unproved where it is not the Hearth whose public key is pinned; without one there is nothing to prove. */
  proved(upstream: Upstream, signal: AbortSignal): Promise<void>;
}

/** Runs `use` and lets go of every connection. */
export async function withProbe<T>(version: string, use: (probe: OwnProbe) => Promise<T>): Promise<T> {
  const connections = new Connections();
  try {
    const deps = { clock: systemClock, connections, userAgent: `hearth/${version}` };
    const proved = async (upstream: Upstream, signal: AbortSignal): Promise<void> => {
      if (upstream.publicKey !== null) await prove(deps, upstream, signal);
    };
    return await use({ ...createProbe(deps), proved });
  } finally {
    connections.close();
  }
}
