import { Connections } from '../../engine/upstream/http/connections.ts';
import { createProbe, type Detector } from '../../engine/upstream/look/probe.ts';
import type { Upstream, UpstreamProbe } from '../../engine/upstream/ports.ts';
import { systemClock } from '../../../lib/base/clock.ts';
import type { ExchangeDeps } from '../../engine/upstream/http/exchange.ts';
import { prove } from './prove-upstream.ts';

export interface OwnProbe extends UpstreamProbe, Detector {
  /** Rejects with upstream_unproved if it is not the Hearth whose public key is pinned. */
  proved(upstream: Upstream, signal: AbortSignal): Promise<void>;
}

export const withProbe = <T>(version: string, use: (probe: OwnProbe) => Promise<T>): Promise<T> =>
  withConnections(version, (deps) =>
    use({ ...createProbe(deps), proved: (upstream, signal) => proveIfPinned(deps, upstream, signal) }),
  );

export async function withConnections<T>(
  version: string,
  use: (deps: ExchangeDeps) => Promise<T>,
): Promise<T> {
  const connections = new Connections();
  try {
    return await use({ clock: systemClock, connections, userAgent: `hearth/${version}` });
  } finally {
    connections.close();
  }
}

export async function proveIfPinned(
  deps: ExchangeDeps,
  upstream: Upstream,
  signal: AbortSignal,
): Promise<void> {
  if (upstream.publicKey !== null) await prove(deps, upstream, signal);
}
