import { type Counter, Gauge, type Registry } from 'prom-client';
import type { ResidencyStatus } from '../ports.ts';

type AddGauge = (
  name: string,
  help: string,
  pick: (item: ResidencyStatus) => number | undefined,
) => Gauge<'model'>;

export function gaugesPerModel(registry: Registry, residencies: () => readonly ResidencyStatus[]): AddGauge {
  return (name, help, pick) =>
    new Gauge({
      name,
      help,
      labelNames: ['model'],
      registers: [registry],
      collect() {
        this.reset();
        for (const item of residencies()) {
          const value = pick(item);
          if (value !== undefined) this.set({ model: item.modelId }, value);
        }
      },
    });
}

/** A series whose first value is 1 hides its first event from `increase()`. `closed` is one label with all its values. */
export function beginAtZero<Label extends string>(
  counter: Counter<Label>,
  fixed: Partial<Record<Label, string>>,
  closed: Partial<Record<Label, readonly string[]>> = {},
): void {
  const [[label, values] = [null, ['']]] = Object.entries(closed) as [Label, readonly string[]][];
  for (const value of values) counter.inc(label === null ? fixed : { ...fixed, [label]: value }, 0);
}
