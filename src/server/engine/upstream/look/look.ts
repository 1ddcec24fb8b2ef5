import { isFailure, errorMessage } from '../../../../lib/errors/svc-error.ts';
import { readCount, field, readList } from '../untrusted.ts';
import type { Dialect, LoadFacts, Look, Upstream } from '../ports.ts';
import type { Ask } from './ask.ts';
import { largestSample, readMetrics, sumSamples } from './metrics-text.ts';
import { apiRoot } from './models.ts';

const UNKNOWN: LoadFacts = { running: null, waiting: null, capacity: null, kvUse: null };

/** Never rejects. */
export async function look(ask: Ask, upstream: Upstream): Promise<Look> {
  try {
    await ask.alive(upstream, HEALTH[upstream.dialect](upstream.baseUrl));
    const load = await LOADS[upstream.dialect](ask, upstream);
    const isBusy =
      (load.waiting ?? 0) > 0 || (load.capacity !== null && (load.running ?? 0) >= load.capacity);
    return { state: isBusy ? 'busy' : 'ready', load };
  } catch (error) {
    if (isFailure(error, 'upstream_busy')) return { state: 'busy', load: UNKNOWN };
    return { state: 'down', reason: errorMessage(error) };
  }
}

const underRoot = (path: string) => (baseUrl: string) => `${apiRoot(baseUrl)}${path}`;

const HEALTH: Readonly<Record<Dialect, (baseUrl: string) => string>> = {
  // OpenAI has no health route; its list of models is as cheap.
  openai: (baseUrl) => `${baseUrl}/models`,
  vllm: underRoot('/health'),
  'llama-server': underRoot('/health'),
  sglang: underRoot('/health'),
  ollama: underRoot('/api/version'),
  hearth: underRoot('/health'),
};

type ReadLoad = (ask: Ask, upstream: Upstream) => Promise<LoadFacts>;

const unknown: ReadLoad = async () => UNKNOWN;

const vllm: ReadLoad = async (ask, upstream) => {
  const page = await ask.tryText(upstream, `${apiRoot(upstream.baseUrl)}/metrics`);
  const found = readMetrics(page ?? '', Object.values(VLLM));
  // Deferred prefills wait as well, but do not indicate congestion.
  const byReason = sumSamples(found.get(VLLM.byReason), { reason: 'capacity' });
  return {
    running: sumSamples(found.get(VLLM.running)),
    waiting: byReason ?? sumSamples(found.get(VLLM.waiting)),
    capacity: null,
    kvUse: largestSample(found.get(VLLM.kvUse)) ?? largestSample(found.get(VLLM.oldKvUse)),
  };
};
const VLLM = {
  running: 'vllm:num_requests_running',
  waiting: 'vllm:num_requests_waiting',
  byReason: 'vllm:num_requests_waiting_by_reason',
  kvUse: 'vllm:kv_cache_usage_perc',
  oldKvUse: 'vllm:gpu_cache_usage_perc',
};

const sglang: ReadLoad = async (ask, upstream) => {
  const page = await ask.tryText(upstream, `${apiRoot(upstream.baseUrl)}/metrics`);
  const found = readMetrics(page ?? '', Object.values(SGLANG));
  return {
    running: sumSamples(found.get(SGLANG.running)),
    waiting: sumSamples(found.get(SGLANG.waiting)),
    capacity: null,
    kvUse: largestSample(found.get(SGLANG.kvUse)),
  };
};
const SGLANG = {
  running: 'sglang:num_running_reqs',
  waiting: 'sglang:num_queue_reqs',
  kvUse: 'sglang:token_usage',
};

const llamaServer: ReadLoad = async (ask, upstream) => {
  const root = apiRoot(upstream.baseUrl);
  const slots = await ask.tryJson(upstream, `${root}/slots`);
  const page = await ask.tryText(upstream, `${root}/metrics`);
  const found = readMetrics(page ?? '', Object.values(LLAMA));
  const list = Array.isArray(slots) ? readList(slots) : null;
  return {
    running:
      list?.filter((slot) => field(slot, 'is_processing') === true).length ??
      sumSamples(found.get(LLAMA.running)),
    waiting: sumSamples(found.get(LLAMA.waiting)),
    capacity: list?.length ?? null,
    kvUse: null,
  };
};
const LLAMA = { running: 'llamacpp:requests_processing', waiting: 'llamacpp:requests_deferred' };

const hearth: ReadLoad = async (ask, upstream) => {
  const body = await ask.tryJson(upstream, `${apiRoot(upstream.baseUrl)}/svc/residency`);
  const models = field(body, 'data');
  if (!Array.isArray(models)) return UNKNOWN;
  const sum = (name: string): number =>
    models.reduce((total: number, model: unknown) => total + (readCount(field(model, name)) ?? 0), 0);
  return { running: sum('running'), waiting: sum('queued'), capacity: null, kvUse: null };
};

const LOADS: Readonly<Record<Dialect, ReadLoad>> = {
  openai: unknown,
  ollama: unknown,
  vllm,
  sglang,
  'llama-server': llamaServer,
  hearth,
};
