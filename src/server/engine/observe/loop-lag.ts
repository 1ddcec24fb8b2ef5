/**
 * Event loop delay under the metric names of common Prometheus dashboards. Measured only while jobs are open, so an
 * idle service is never woken. Node's own monitor would count the time between two jobs as one long delay.
 */
import { createHistogram } from 'node:perf_hooks';
import { Gauge, type Registry } from 'prom-client';
import type { Clock } from '../../../lib/base/clock.ts';

/** Chosen: each wake takes a core from inference threads. At 100 ms these were more than half of all wakes. */
const LOOK_EVERY_MS = 250;

export interface LoopLag {
  jobOpened(): void;
  jobClosed(): void;
}

export function addLoopLag(registry: Registry, clock: Clock): LoopLag {
  /** Microseconds; the histogram cannot record less than 1. */
  const delays = createHistogram();
  const gauge = (name: string, help: string, read: () => number): Gauge =>
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(delays.count === 0 ? 0 : read() / 1e6);
      },
    });
  gauge(
    'nodejs_eventloop_lag_p99_seconds',
    'How late the event loop was in 99 of 100 looks while jobs were open, since the last scrape.',
    () => delays.percentile(99),
  );
  const most = gauge(
    'nodejs_eventloop_lag_max_seconds',
    'How late the event loop was at most while jobs were open, since the last scrape.',
    () => delays.max,
  );
  startAnew(most, delays);
  const watch = new LoopWatch(clock, (lateMs) => delays.record(Math.max(1, Math.round(lateMs * 1000))));
  let open = 0;
  return {
    jobOpened: () => {
      open += 1;
      if (open === 1) watch.begin();
    },
    jobClosed: () => {
      open -= 1;
      if (open === 0) watch.end();
    },
  };
}

class LoopWatch {
  readonly #clock: Clock;
  readonly #onLook: (lateMs: number) => void;
  #dueMs = 0;
  #cancel: () => void = () => {};

  constructor(clock: Clock, onLook: (lateMs: number) => void) {
    this.#clock = clock;
    this.#onLook = onLook;
  }

  begin(): void {
    this.#dueMs = this.#clock.monotonicMs() + LOOK_EVERY_MS;
    this.#cancel = this.#clock.after(LOOK_EVERY_MS, () => {
      this.#look();
      this.begin();
    });
  }

  /** An overdue check counts as done: the last job may end in the code that delayed it. */
  end(): void {
    this.#cancel();
    if (this.#clock.monotonicMs() > this.#dueMs) this.#look();
  }

  #look(): void {
    this.#onLook(Math.max(0, this.#clock.monotonicMs() - this.#dueMs));
  }
}

function startAnew(last: Gauge, delays: { reset(): void }): void {
  const read = last.get.bind(last);
  last.get = async () => {
    const value = await read();
    delays.reset();
    return value;
  };
}
