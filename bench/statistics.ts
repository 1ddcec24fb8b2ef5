/** Order statistics of samples; empty samples are a mistake of the benchmark. */
export function quantile(samples: readonly number[], share: number): number {
  if (samples.length === 0) throw new Error('no samples');
  const sorted = [...samples].sort((a, b) => a - b);
  const at = (sorted.length - 1) * share;
  const low = sorted[Math.floor(at)] ?? 0;
  const high = sorted[Math.ceil(at)] ?? 0;
  return low + (high - low) * (at - Math.floor(at));
}

export const median = (samples: readonly number[]): number => quantile(samples, 0.5);

export const rounded = (value: number): number => Number(value.toPrecision(4));

export type Figures = Readonly<Record<string, number>>;

/** How samples are spread, as named figures; none where there are no samples. */
export function spread(name: string, unit: string, samples: readonly number[]): Figures {
  if (samples.length === 0) return {};
  return {
    [`${name} p50 ${unit}`]: median(samples),
    [`${name} p95 ${unit}`]: quantile(samples, 0.95),
    [`${name} p99 ${unit}`]: quantile(samples, 0.99),
    [`${name} max ${unit}`]: quantile(samples, 1),
  };
}

export const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

export const perSecond = (count: number, ms: number): number => (count * 1000) / ms;
