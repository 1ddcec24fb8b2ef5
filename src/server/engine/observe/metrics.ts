/**
 * server/engine/observe owns /metrics: OpenTelemetry's names for generative AI servers in Prometheus spelling, and gauges.
 * It observes the engine so that no use case has to count; it knows no HTTP and keeps no text.
 */
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Clock } from '../../../lib/base/clock.ts';
import { plus, totalBytes } from '../device-memory.ts';
import type {
  EngineObserver,
  JobListener,
  Memory,
  ResidencyStatus,
  UpstreamStatus,
  WatchedJob,
} from '../ports.ts';
import type { Job } from '../../../contract/job.ts';
import type { DoneEvent } from '../../../contract/job-event.ts';
import { isSvcError } from '../../../lib/errors/svc-error.ts';
import { addTierMetrics, cacheCounter } from './cache-metrics.ts';
import { addLoopLag, type LoopLag } from './loop-lag.ts';
import { modelMetrics, type ModelMetrics } from './model-metrics.ts';
import { beginAtZero, gaugesPerModel } from './per-model.ts';
import { keyMetrics, type KeyFigures, type RequestFigures, serviceMetrics } from './service-metrics.ts';
import { addProcessMetrics } from './process-metrics.ts';
import { addUpstreamMetrics } from './upstream-metrics.ts';

// Bucket bounds of the OpenTelemetry conventions plus a longer tail, because a CPU can take minutes.
const DURATION_BUCKETS = [
  0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92, 164, 328,
];
const FIRST_TOKEN_BUCKETS = [
  0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 30, 60, 120, 300,
];
const TOKEN_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5];
const OPERATION: Record<Job['kind'], string> = {
  generate: 'chat',
  embed: 'embeddings',
  rank: 'rank',
  explain: 'explain',
  tokenize: 'tokenize',
  detokenize: 'detokenize',
  pin: 'pin',
};

interface Metrics extends EngineObserver {
  readonly contentType: string;
  countRequest(request: RequestFigures): void;
  describe(): readonly SeriesFacts[];
  onFirstToken(upstream: string, ms: number): void;
  render(mayRead?: (key: string) => boolean): Promise<string>;
}

interface SeriesFacts {
  readonly name: string;
  readonly type: string;
  readonly labels: readonly string[];
  readonly help: string;
}

interface MetricsOptions {
  readonly clock: Clock;
  readonly version: string;
  readonly residencies: () => readonly ResidencyStatus[];
  readonly upstreams?: () => readonly UpstreamStatus[];
  readonly keys?: () => readonly KeyFigures[];
}

export function createMetrics({
  clock,
  version,
  residencies,
  upstreams = () => [],
  keys = () => [],
}: MetricsOptions): Metrics {
  const registry = new Registry();
  addProcessMetrics(registry, clock);
  const lag = addLoopLag(registry, clock);
  addResidencyMetrics(registry, residencies);
  const models = modelMetrics(registry, residencies);
  const tiers = addTierMetrics(registry, residencies);
  const onFirstToken = addUpstreamMetrics(registry, upstreams, FIRST_TOKEN_BUCKETS);
  const countRequest = serviceMetrics(registry);
  const instruments = { ...createInstruments(registry, version), models };
  return {
    watchJob: (job) => watchLag(lag, watchJob(job, instruments, clock)),
    onLoad: (load) => {
      const { tokens, cache } = instruments;
      const labels = { gen_ai_request_model: load.modelId };
      beginAtZero(tokens, labels, { gen_ai_token_type: ['input', 'cached_input', 'output'] });
      cache.onLoad(load.modelId);
      models.onLoad(load);
    },
    onGone: (modelId, reason) => {
      models.onGone(modelId, reason);
      tiers.onGone(modelId);
    },
    countRequest,
    onFirstToken,
    describe: () => [registry, keyMetrics([])].flatMap((each) => each.getMetricsAsArray()).map(seriesFacts),
    contentType: registry.contentType,
    render: async (mayRead = () => true) => {
      const seen = keys().filter(({ name }) => mayRead(name));
      return Registry.merge([registry, keyMetrics(seen)]).metrics();
    },
  };
}

function seriesFacts(metric: object): SeriesFacts {
  const { name, help, type, labelNames } = metric as {
    name: string;
    help: string;
    type?: string;
    labelNames: readonly string[];
  };
  return { name, help, labels: labelNames, type: type ?? metric.constructor.name.toLowerCase() };
}

type Instruments = ReturnType<typeof createInstruments> & { readonly models: ModelMetrics };

function createInstruments(registry: Registry, version: string) {
  const registers = [registry];
  const labelNames = ['gen_ai_operation_name', 'gen_ai_request_model', 'error_type'] as const;
  new Gauge({
    name: 'hearth_build_info',
    help: 'Always 1; the version is the label.',
    labelNames: ['version'],
    registers,
  })
    .labels(version)
    .set(1);
  return {
    cache: cacheCounter(registry),
    duration: new Histogram({
      name: 'gen_ai_server_request_duration_seconds',
      help: 'From admission to the last event of a job.',
      labelNames,
      buckets: DURATION_BUCKETS,
      registers,
    }),
    firstToken: new Histogram({
      name: 'gen_ai_server_time_to_first_token_seconds',
      help: 'From admission to the first text of a job.',
      labelNames: ['gen_ai_operation_name', 'gen_ai_request_model'],
      buckets: FIRST_TOKEN_BUCKETS,
      registers,
    }),
    tokenTime: new Histogram({
      name: 'gen_ai_server_time_per_output_token_seconds',
      help: 'Decode time of an answer divided by its tokens.',
      labelNames: ['gen_ai_operation_name', 'gen_ai_request_model'],
      buckets: TOKEN_BUCKETS,
      registers,
    }),
    wait: new Histogram({
      name: 'hearth_queue_wait_seconds',
      help: 'From admission to the moment when a job begins; loads are part of it.',
      labelNames: ['gen_ai_operation_name', 'gen_ai_request_model'],
      buckets: FIRST_TOKEN_BUCKETS,
      registers,
    }),
    tokens: new Counter({
      name: 'gen_ai_server_tokens_total',
      help: 'Tokens by type: input, cached_input, output.',
      labelNames: ['gen_ai_token_type', 'gen_ai_request_model'],
      registers,
    }),
  };
}

function addResidencyMetrics(registry: Registry, residencies: () => readonly ResidencyStatus[]): void {
  const sum = (name: string, help: string, pick: (item: ResidencyStatus) => number) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(residencies().reduce((total, item) => total + pick(item), 0));
      },
    });
  sum('hearth_requests_processing', 'Jobs that run now.', (item) => item.running);
  sum('hearth_requests_deferred', 'Jobs that wait for a loaded or loading model.', (item) => item.queued);
  sum('hearth_models_loaded', 'Models in memory.', (item) => (item.state === 'ready' ? 1 : 0));
  sum('hearth_models_resident_bytes', 'Memory of the workers.', (item) =>
    totalBytes(item.facts?.measured ?? item.planned),
  );
  const perModel = gaugesPerModel(registry, residencies);
  perModel(
    'hearth_model_slots',
    'Jobs that a loaded model can run at a time.',
    (item) => item.facts?.slots ?? 0,
  );
  perModel('hearth_model_slots_busy', 'Jobs that a model runs now.', (item) => item.running);
  perModel('hearth_model_queued', 'Jobs that wait for a model.', (item) => item.queued);
  const perDevice = (name: string, help: string, pick: (item: ResidencyStatus) => Memory) =>
    new Gauge({
      name,
      help,
      labelNames: ['device'],
      registers: [registry],
      collect() {
        this.reset();
        for (const { device, bytes } of plus(...residencies().map(pick))) this.set({ device }, bytes);
      },
    });
  perDevice('hearth_models_planned_bytes', 'What the loads were planned with.', (item) => item.planned);
  perDevice(
    'hearth_models_measured_bytes',
    'What the loaded models take, where it is measured.',
    (item) => item.facts?.measured ?? [],
  );
}

function watchLag(lag: LoopLag, inner: JobListener): JobListener {
  lag.jobOpened();
  return {
    onEvent: inner.onEvent,
    onEnd: (failure) => {
      lag.jobClosed();
      inner.onEnd(failure);
    },
  };
}

function watchJob(
  { kind, modelId }: WatchedJob,
  { duration, firstToken, tokenTime, tokens, wait, cache, models }: Instruments,
  clock: Clock,
): JobListener {
  const begin = clock.monotonicMs();
  const seconds = () => (clock.monotonicMs() - begin) / 1000;
  // Only installed ids reach this point, so clients cannot invent label values.
  const labels = { gen_ai_operation_name: OPERATION[kind], gen_ai_request_model: modelId };
  let hasText = false;
  let isWaiting = true;
  const count = ({ usage, timings }: DoneEvent): void => {
    const written = usage.completionTokens;
    if (written > 0) tokenTime.observe(labels, timings.decodeMs / 1000 / written);
    const add = (type: string, value: number) =>
      tokens.inc({ gen_ai_token_type: type, gen_ai_request_model: modelId }, value);
    add('input', usage.promptTokens - usage.cachedTokens);
    add('cached_input', usage.cachedTokens);
    add('output', usage.completionTokens);
  };
  return {
    onEvent: (event) => {
      if (event.type === 'started') cache.onStarted(event, modelId);
      if (event.type === 'started' && isWaiting) {
        isWaiting = false;
        wait.observe(labels, seconds());
      }
      if (event.type === 'text' && !hasText) {
        hasText = true;
        firstToken.observe(labels, seconds());
      }
      if (event.type !== 'done') return;
      count(event);
      models.onDone(event, modelId);
    },
    onEnd: (failure) => {
      const outcome = failure === null ? '' : isSvcError(failure) ? failure.code : 'internal';
      duration.observe({ ...labels, error_type: outcome }, seconds());
    },
  };
}
