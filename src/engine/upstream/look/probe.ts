/** What other rooms ask of upstreams beside jobs, over the kept connections. */
import type { ExchangeDeps } from '../http/exchange.ts';
import type { Dialect, Upstream, UpstreamProbe } from '../ports.ts';
import { Ask } from './ask.ts';
import { detectDialect } from './detect.ts';
import { look } from './look.ts';
import { listModels } from './models.ts';

export interface Detector {
  /** The dialect that the upstream speaks, whatever it is thought to; rejects where it cannot be asked. */
  detect(upstream: Upstream, signal: AbortSignal): Promise<Dialect>;
}

export function createProbe(deps: ExchangeDeps): UpstreamProbe & Detector {
  return {
    look: (upstream, signal) => look(new Ask(deps, signal), upstream),
    models: (upstream, signal) => listModels(new Ask(deps, signal), upstream),
    detect: (upstream, signal) => detectDialect(new Ask(deps, signal), upstream),
  };
}
