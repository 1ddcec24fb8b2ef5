/**
 * How late the server's event loop is, under the names that Prometheus dashboards know. Measuring takes a timer of Node's
 * own, which runs only while jobs are open: an idle service is not woken.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Gauge, type Registry } from '#prom-client';

const RESOLUTION_MS = 20;

export interface LoopLag {
  jobOpened(): void;
  jobClosed(): void;
}

export function addLoopLag(registry: Registry): LoopLag {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  const lateS = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e6 - RESOLUTION_MS) / 1e3;
  const gauge = (name: string, help: string, read: () => number): Gauge =>
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(delay.count === 0 ? 0 : lateS(read()));
      },
    });
  gauge(
    'nodejs_eventloop_lag_p99_seconds',
    'How late the event loop was in 99 of 100 looks while jobs were open, since the last scrape.',
    () => delay.percentile(99),
  );
  const most = gauge(
    'nodejs_eventloop_lag_max_seconds',
    'How late the event loop was at most while jobs were open, since the last scrape.',
    () => delay.max,
  );
  startAnew(most, delay);
  let open = 0;
  return {
    jobOpened: () => {
      open += 1;
      if (open === 1) delay.enable();
    },
    jobClosed: () => {
      open -= 1;
      if (open === 0) delay.disable();
    },
  };
}

/** Each scrape sees its own span; the last of the gauges to be read begins the next. */
function startAnew(last: Gauge, delay: { reset(): void }): void {
  const read = last.get.bind(last);
  last.get = async () => {
    const value = await read();
    delay.reset();
    return value;
  };
}
