/** Reads a few whole metric names from a Prometheus page: a prefix would match other series. */

interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const MOST_SAMPLES = 1_000;
/** Usual lines have a few hundred characters; the rest of a longer one is ignored. */
const MOST_CHARS = 4_096;
const LABEL = /[, \t]*([a-zA-Z_][a-zA-Z0-9_]*)[ \t]*=[ \t]*"((?:[^"\\]|\\.)*)"/y;
const CLOSE = /[, \t]*\}/y;
const VALUE = /[ \t]+([^ \t]+)(?:[ \t]+-?\d+)?[ \t\r]*$/y;

export function readMetrics(page: string, names: readonly string[]): ReadonlyMap<string, readonly Sample[]> {
  return new Map(names.map((name) => [name, findSamples(page, name)]));
}

function findSamples(page: string, name: string): readonly Sample[] {
  const samples: Sample[] = [];
  for (let at = page.indexOf(name); at !== -1; at = page.indexOf(name, at + name.length)) {
    if (at > 0 && page[at - 1] !== '\n') continue;
    const rest = page.slice(at + name.length, at + MOST_CHARS);
    const end = rest.indexOf('\n');
    const sample = readRest(end === -1 ? rest : rest.slice(0, end));
    if (sample !== null) samples.push(sample);
    if (samples.length === MOST_SAMPLES) break;
  }
  return samples;
}

/** Each part is searched only where the previous one ends, so that no line is read more than a few times. */
function readRest(line: string): Sample | null {
  let at = 0;
  const labels: [string, string][] = [];
  if (line.startsWith('{')) {
    at = 1;
    for (let label = matchAt(LABEL, line, at); label !== null; label = matchAt(LABEL, line, at)) {
      labels.push([label[1] ?? '', label[2] ?? '']);
      at += label[0].length;
    }
    const close = matchAt(CLOSE, line, at);
    if (close === null) return null;
    at += close[0].length;
  }
  const text = matchAt(VALUE, line, at)?.[1];
  const value = Number(text);
  return text === undefined || !Number.isFinite(value) ? null : { labels: Object.fromEntries(labels), value };
}

function matchAt(sticky: RegExp, text: string, at: number): RegExpExecArray | null {
  sticky.lastIndex = at;
  return sticky.exec(text);
}

export function sumSamples(
  samples: readonly Sample[] | undefined,
  labels: Readonly<Record<string, string>> = {},
): number | null {
  const fitting = (samples ?? []).filter((sample) =>
    Object.entries(labels).every(([name, value]) => sample.labels[name] === value),
  );
  return fitting.length === 0 ? null : fitting.reduce((sum, { value }) => sum + value, 0);
}

export function largestSample(samples: readonly Sample[] | undefined): number | null {
  return samples === undefined || samples.length === 0
    ? null
    : Math.max(...samples.map(({ value }) => value));
}
