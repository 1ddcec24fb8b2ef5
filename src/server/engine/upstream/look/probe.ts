import type { ExchangeDeps } from '../http/exchange.ts';
import type { Dialect, Upstream, UpstreamProbe } from '../ports.ts';
import { Ask } from './ask.ts';
import { look } from './look.ts';
import { listModels } from './models.ts';
import { LIST_LIMITS } from '../limits.ts';
import { field, readList, readText } from '../untrusted.ts';

export interface Detector {
  /** The actual dialect, whatever the configuration says; rejects if the upstream is unreachable. */
  detect(upstream: Upstream, signal: AbortSignal): Promise<Dialect>;
}

export function createProbe(deps: ExchangeDeps): UpstreamProbe & Detector {
  return {
    look: (upstream, signal) => look(new Ask(deps, signal), upstream),
    models: (upstream, signal) => listModels(new Ask(deps, signal), upstream),
    detect: (upstream, signal) => detectDialect(new Ask(deps, signal), upstream),
  };
}

const BY_OWNER: Readonly<Record<string, Dialect>> = {
  vllm: 'vllm',
  llamacpp: 'llama-server',
  sglang: 'sglang',
  library: 'ollama',
};

async function detectDialect(ask: Ask, upstream: Upstream): Promise<Dialect> {
  const url = `${upstream.baseUrl}/models`;
  if ((await ask.server(upstream, url)).startsWith('hearth/')) return 'hearth';
  const body = await ask.json(upstream, url, { limits: LIST_LIMITS });
  const owners = readList(field(body, 'data')).map((entry) => readText(field(entry, 'owned_by')) ?? '');
  return owners.flatMap((owner) => BY_OWNER[owner] ?? [])[0] ?? 'openai';
}
