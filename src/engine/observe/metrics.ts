/**
 * The figures behind /metrics: OpenTelemetry's names for generative AI servers in Prometheus spelling, and the gauges
 * that people graph. It watches the Engine port, so no use case has to remember to count. It never sees text.
 */
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Clock } from '../../lib/base/clock.ts';
import type { Engine, Submission } from '../ports.ts';
import type { Job } from '../../contract/job.ts';
import type { JobEvent } from '../../contract/job-event.ts';
import { isSvcError } from '../../lib/errors/svc-error.ts';
import { addProcessMetrics } from './process-metrics.ts';

// Bucket bounds of the OpenTelemetry conventions, with a longer tail, because a CPU can take minutes.
const durationBuckets = [
  0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92, 164, 328,
];
const firstTokenBuckets = [
  0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 30, 60, 120, 300,
];
const operationOf: Record<Job['kind'], string> = {
  generate: 'chat',
  embed: 'embeddings',
  explain: 'explain',
};

export interface Metrics {
  /** The same engine, observed. */
  observe(engine: Engine): Engine;
  readonly contentType: string;
  /** The exposition text. */
  render(): Promise<string>;
}

export function createMetrics(clock: Clock, version: string): Metrics {
  const registry = new Registry();
  addProcessMetrics(registry, clock);
  const instruments = createInstruments(registry, version);
  return {
    observe: (engine) => observeEngine(engine, instruments, clock),
    contentType: registry.contentType,
    render: () => registry.metrics(),
  };
}

type Instruments = ReturnType<typeof createInstruments>;

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
    registry,
    duration: new Histogram({
      name: 'gen_ai_server_request_duration_seconds',
      help: 'From admission to the last event of a job.',
      labelNames,
      buckets: durationBuckets,
      registers,
    }),
    firstToken: new Histogram({
      name: 'gen_ai_server_time_to_first_token_seconds',
      help: 'From admission to the first text of a job.',
      labelNames: ['gen_ai_operation_name', 'gen_ai_request_model'],
      buckets: firstTokenBuckets,
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

function observeEngine(engine: Engine, instruments: Instruments, clock: Clock): Engine {
  const registers = [instruments.registry];
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  const sum = (pick: (item: ReturnType<Engine['residencies']>[number]) => number) =>
    engine.residencies().reduce((total, item) => total + pick(item), 0);
  gauge('hearth_requests_processing', 'Jobs that run now.', () => sum((item) => item.running));
  gauge('hearth_requests_deferred', 'Jobs that wait for a loaded or loading model.', () =>
    sum((item) => item.queued),
  );
  gauge('hearth_models_loaded', 'Models in memory.', () => sum((item) => (item.state === 'ready' ? 1 : 0)));
  gauge('hearth_models_resident_bytes', 'Memory of the workers.', () =>
    sum((item) => item.facts?.residentBytes ?? item.plannedBytes),
  );
  return {
    submit: (submission, signal) =>
      observeJob(engine.submit(submission, signal), submission, instruments, clock),
    residencies: () => engine.residencies(),
    plan: (target, numCtx) => engine.plan(target, numCtx),
    unload: (modelId) => engine.unload(modelId),
    drain: (deadlineMs) => engine.drain(deadlineMs),
  };
}

async function* observeJob(
  events: AsyncIterable<JobEvent>,
  { job, target }: Submission,
  { duration, firstToken, tokens }: Instruments,
  clock: Clock,
): AsyncGenerator<JobEvent, void, void> {
  const begin = clock.monotonicMs();
  const seconds = () => (clock.monotonicMs() - begin) / 1000;
  // Only installed ids reach this point, so clients cannot invent label values.
  const labels = { gen_ai_operation_name: operationOf[job.kind], gen_ai_request_model: target.modelId };
  let spoken = false;
  let outcome = 'cancelled';
  try {
    for await (const event of events) {
      if (event.type === 'text' && !spoken) {
        spoken = true;
        firstToken.observe(labels, seconds());
      }
      if (event.type === 'done') {
        const count = (type: string, value: number) =>
          tokens.inc({ gen_ai_token_type: type, gen_ai_request_model: target.modelId }, value);
        count('input', event.usage.promptTokens - event.usage.cachedTokens);
        count('cached_input', event.usage.cachedTokens);
        count('output', event.usage.completionTokens);
      }
      if (event.type === 'done' || event.type === 'embedded' || event.type === 'explained') outcome = '';
      yield event;
    }
  } catch (error) {
    outcome = isSvcError(error) ? error.code : 'internal';
    throw error;
  } finally {
    duration.observe({ ...labels, error_type: outcome }, seconds());
  }
}
