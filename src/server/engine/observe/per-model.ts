import { Gauge, type Registry } from 'prom-client';
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
