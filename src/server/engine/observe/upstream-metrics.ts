import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { FAILURE_KINDS } from '../failure-kinds.ts';
import type { UpstreamStatus } from '../ports.ts';

type Statuses = () => readonly UpstreamStatus[];

const COUNTS = [
  ['hearth_upstream_requests_total', 'Requests that were sent to an upstream.', 'requests'],
  [
    'hearth_upstream_spills_total',
    'Requests sent to another upstream because of its load, although it knew their prompts.',
    'spills',
  ],
  [
    'hearth_upstream_affinity_hits_total',
    'Requests that went there because it knew their prompts or sessions.',
    'affinityHits',
  ],
  [
    'hearth_upstream_failovers_total',
    'Requests that failed there before the first byte and were moved to another upstream.',
    'failovers',
  ],
  [
    'hearth_upstream_resumptions_total',
    'Answers that failed there midway and continued at another upstream.',
    'resumptions',
  ],
] as const;

const STATES = ['ready', 'busy', 'down'] as const;

/** The returned function records the time to first token, milliseconds. */
export function addUpstreamMetrics(
  registry: Registry,
  upstreams: Statuses,
  buckets: number[],
): (upstream: string, ms: number) => void {
  const labelNames = ['upstream'] as const;
  const counts = COUNTS.map(
    ([name, help, member]) =>
      new Counter({
        name,
        help,
        labelNames,
        registers: [],
        collect() {
          this.reset();
          for (const each of upstreams()) this.inc({ upstream: each.name }, each[member]);
        },
      }),
  );
  for (const metric of [...counts, failures(upstreams), state(upstreams), inFlight(upstreams)])
    registry.registerMetric(metric);
  const firstToken = new Histogram({
    name: 'hearth_upstream_time_to_first_token_seconds',
    help: 'From sending a request to an upstream to its first words.',
    labelNames,
    buckets,
    registers: [registry],
  });
  return (upstream, ms) => firstToken.observe({ upstream }, ms / 1000);
}

function failures(upstreams: Statuses): Counter {
  return new Counter({
    name: 'hearth_upstream_failures_total',
    help: 'Requests that failed at an upstream, by kind.',
    labelNames: ['upstream', 'kind'],
    registers: [],
    collect() {
      this.reset();
      for (const { name, failures: counts } of upstreams())
        for (const kind of FAILURE_KINDS) this.inc({ upstream: name, kind }, counts[kind] ?? 0);
    },
  });
}

function state(upstreams: Statuses): Gauge {
  return new Gauge({
    name: 'hearth_upstream_state',
    help: '1 for the state that an upstream is in, 0 for the others.',
    labelNames: ['upstream', 'state'],
    registers: [],
    collect() {
      this.reset();
      for (const each of upstreams())
        for (const one of STATES) this.set({ upstream: each.name, state: one }, each.state === one ? 1 : 0);
    },
  });
}

function inFlight(upstreams: Statuses): Gauge {
  return new Gauge({
    name: 'hearth_upstream_requests_in_flight',
    help: 'Requests that an upstream has now.',
    labelNames: ['upstream'],
    registers: [],
    collect() {
      this.reset();
      for (const each of upstreams()) this.set({ upstream: each.name }, each.inFlight);
    },
  });
}
