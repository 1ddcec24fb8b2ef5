/** Upstreams as a verb asks them, without a server. */
import { Connections } from '../../engine/upstream/http/connections.ts';
import { createProbe, type Detector } from '../../engine/upstream/look/probe.ts';
import type { UpstreamProbe } from '../../engine/upstream/ports.ts';
import { systemClock } from '../../lib/base/clock.ts';

export type OwnProbe = UpstreamProbe & Detector;

/** Runs `use` and lets go of every connection. */
export async function withProbe<T>(version: string, use: (probe: OwnProbe) => Promise<T>): Promise<T> {
  const connections = new Connections();
  try {
    return await use(createProbe({ clock: systemClock, connections, userAgent: `hearth/${version}` }));
  } finally {
    connections.close();
  }
}
