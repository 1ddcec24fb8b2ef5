/**
 * Process metrics under common Prometheus names, read on each scrape: prom-client's own set keeps a timer that wakes
 * the process a hundred times a second, which takes time from inference threads on a two-core machine.
 */
import { Counter, Gauge, type Registry } from 'prom-client';
import type { Clock } from '../../../lib/base/clock.ts';

interface Figure {
  readonly name: string;
  readonly help: string;
  readonly read: () => number;
}

const FIGURES: readonly Figure[] = [
  {
    name: 'process_resident_memory_bytes',
    help: 'Resident memory of the server process, workers not included.',
    read: () => process.memoryUsage.rss(),
  },
  {
    name: 'nodejs_heap_size_used_bytes',
    help: 'JavaScript heap in use.',
    read: () => process.memoryUsage().heapUsed,
  },
];

export function addProcessMetrics(registry: Registry, clock: Clock): void {
  const startedS = clock.unixMs() / 1000 - process.uptime();
  const started = gauge({
    name: 'process_start_time_seconds',
    help: 'When the server process started, in seconds since 1970.',
    read: () => startedS,
  });
  for (const metric of [processorTime(), started, ...FIGURES.map(gauge)]) registry.registerMetric(metric);
}

function processorTime(): Counter {
  return new Counter({
    name: 'process_cpu_seconds_total',
    help: 'Processor time of the server process, workers not included, in seconds.',
    registers: [],
    collect() {
      const { user, system } = process.cpuUsage();
      this.reset();
      this.inc((user + system) / 1e6);
    },
  });
}

function gauge({ name, help, read }: Figure): Gauge {
  return new Gauge({
    name,
    help,
    registers: [],
    collect() {
      this.set(read());
    },
  });
}
