/** A page of Prometheus metrics, read for a few whole names: a prefix would find other series. Pure. */

export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const LINE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})?\s+(\S+)(?:\s+-?\d+)?$/;
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"/g;

/** The samples of each name that was asked for; absent names have none. */
export function readMetrics(page: string, names: readonly string[]): ReadonlyMap<string, readonly Sample[]> {
  const wanted = new Set(names);
  const found = new Map<string, Sample[]>();
  for (const line of page.split('\n')) {
    const end = line.search(/[{\s]/);
    if (end <= 0 || !wanted.has(line.slice(0, end))) continue;
    const [, name = '', labels = '', text = ''] = LINE.exec(line.trimEnd()) ?? [];
    const value = Number(text);
    if (name === '' || !Number.isFinite(value)) continue;
    const sample = {
      value,
      labels: Object.fromEntries([...labels.matchAll(LABEL)].map(([, key, word]) => [key, word])),
    };
    found.set(name, [...(found.get(name) ?? []), sample]);
  }
  return found;
}

/** The sum over the series that have these labels; null: there is none. */
export function sumOf(
  samples: readonly Sample[] | undefined,
  labels: Readonly<Record<string, string>> = {},
): number | null {
  const fitting = (samples ?? []).filter((sample) =>
    Object.entries(labels).every(([name, value]) => sample.labels[name] === value),
  );
  return fitting.length === 0 ? null : fitting.reduce((sum, { value }) => sum + value, 0);
}

/** The largest of them; null: there is none. */
export function mostOf(samples: readonly Sample[] | undefined): number | null {
  return samples === undefined || samples.length === 0
    ? null
    : Math.max(...samples.map(({ value }) => value));
}
