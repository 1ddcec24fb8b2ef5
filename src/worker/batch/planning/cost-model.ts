/**
 * Predicts the time of native calls from earlier calls. Every decision by time uses it, and nothing else learns from
 * calls. A prediction is the mean of the last calls of the same size, corrected by the KV cells that the call reads.
 * Pure.
 */
import { ASSUMED_PREFILL_MS_PER_TOKEN, COSTS, PLAIN_ATTENTION, ROW_TILE } from './tuning.ts';

export type AttentionKind = 'flash' | 'plain';

export interface Call {
  readonly phase: 'decode' | 'prefill';
  readonly rows: number;
  readonly cells: number;
  readonly attention?: AttentionKind;
}

interface CostModelOptions {
  readonly attention?: AttentionKind;
  /** Flash attention reads the cells of a tile of rows once; otherwise once per row. */
  readonly readsByTile?: boolean;
  readonly bytesPerCell?: number;
}

/** Calls of one size are comparable: a decode call by its rows, a prefill by whether it fills a tile. */
export type Size = number | 'slice' | 'tile';

/** Milliseconds of one row of a prompt, or of all rows of a decode call. */
interface Sample {
  readonly cells: number;
  readonly ms: number;
  readonly at: number;
}

interface Mean {
  readonly cells: number;
  readonly ms: number;
}

interface History {
  readonly samples: readonly Sample[];
  readonly level: Mean;
  /**
   * Sums over the samples: squared distance of cells from their mean, and distance of cells times that of
   * milliseconds.
   */
  readonly spread: number;
  readonly together: number;
}

interface Slope {
  readonly msPerCell: number;
  /** False: mostly assumed, because the samples differ little in their cells. */
  readonly isMeasured: boolean;
}

export class CostModel {
  attention: AttentionKind;
  readonly #tiled: boolean;
  readonly #assumedMsPerCell: number;
  readonly #sizes: Readonly<Record<AttentionKind, Map<Size, History>>>;
  readonly #slopes = new Map<string, Slope>();
  #calls = 0;

  constructor({ attention = 'flash', readsByTile = false, bytesPerCell = 0 }: CostModelOptions = {}) {
    this.attention = attention;
    this.#tiled = readsByTile;
    this.#assumedMsPerCell = bytesPerCell / COSTS.assumedBytesPerMs;
    this.#sizes = { flash: new Map(), plain: new Map() };
  }

  predict(call: Call): number {
    const { attention = this.attention } = call;
    return this.#estimate(attention, call) ?? this.#fromOther(attention, call) ?? assumedMs(call);
  }

  observe(call: Call, ms: number): void {
    const { attention = this.attention, phase, rows, cells } = call;
    this.#calls += 1;
    const sample = phase === 'decode' ? { cells: sharedCells(rows, cells), ms } : { cells, ms: ms / rows };
    const sizes = this.#sizes[attention];
    const size = callSize(call);
    sizes.set(size, extended(sizes.get(size), { ...sample, at: this.#calls }));
    this.#forget();
    this.#slopes.clear();
  }

  seen(call: Omit<Call, 'cells'>): number {
    return this.#sizes[call.attention ?? this.attention].get(callSize(call))?.samples.length ?? 0;
  }

  rowMs(cells: number): number | null {
    const call = { phase: 'decode', rows: 1, cells } as const;
    return this.seen(call) === 0 ? null : this.predict(call);
  }

  get promptRowMs(): number | null {
    const call = { phase: 'prefill', rows: ROW_TILE, cells: 0 } as const;
    const ms = this.#estimate(this.attention, call) ?? this.#fromOther(this.attention, call);
    return ms === null ? null : ms / ROW_TILE;
  }

  get promptMsPerToken(): number {
    return this.promptRowMs ?? ASSUMED_PREFILL_MS_PER_TOKEN;
  }

  get readsByTile(): boolean {
    return this.#tiled && this.attention === 'flash';
  }

  get msPerCell(): number {
    const { msPerCell } = this.#slope(this.attention, 'decode');
    return Math.max(COSTS.leastSlopeShare * this.#assumedMsPerCell, msPerCell);
  }

  get isCellMeasured(): boolean {
    return this.#slope(this.attention, 'decode').isMeasured;
  }

  #estimate(attention: AttentionKind, call: Call): number | null {
    if (call.phase === 'decode') return this.#decodeMs(attention, call);
    const ms = this.#promptRow(attention, callSize(call), call.cells);
    return ms === null ? null : call.rows * ms;
  }

  #decodeMs(attention: AttentionKind, { rows, cells }: Call): number | null {
    const { msPerCell } = this.#slope(attention, 'decode');
    const at = (size: number): number | null =>
      this.#level(attention, size, { cells: sharedCells(size, cells), msPerCell });
    const known = decodeSizes(this.#sizes[attention]);
    const below = Math.max(...known.filter((size) => size <= rows));
    const above = Math.min(...known.filter((size) => size >= rows));
    const [low, high] = [at(below), at(above)];
    if (low === null) return high;
    if (high === null) return low * (1 + (COSTS.assumedExtraRow * (rows - below)) / below);
    return above === below ? low : low + ((high - low) * (rows - below)) / (above - below);
  }

  #promptRow(attention: AttentionKind, size: Size, cells: number): number | null {
    const { msPerCell } = this.#slope(attention, 'prefill');
    const steeper = this.#tiled && attention === 'flash' ? COSTS.sliceSteepness * msPerCell : msPerCell;
    const start = this.#level(attention, 'tile', { cells: 0, msPerCell });
    const slice =
      this.#level(attention, 'slice', { cells, msPerCell: steeper }) ??
      (start === null ? null : start + steeper * cells);
    const tile = this.#level(attention, 'tile', { cells, msPerCell });
    return size === 'slice' || tile === null || slice === null ? slice : Math.min(slice, tile);
  }

  #level(
    attention: AttentionKind,
    size: Size,
    { cells, msPerCell }: { readonly cells: number; readonly msPerCell: number },
  ): number | null {
    const level = this.#sizes[attention].get(size)?.level;
    if (level === undefined) return null;
    return Math.max(COSTS.leastAtStart * level.ms, level.ms + msPerCell * (cells - level.cells));
  }

  #fromOther(attention: AttentionKind, call: Call): number | null {
    const other = attention === 'flash' ? 'plain' : 'flash';
    const ms = this.#estimate(other, call);
    const startMs = this.#estimate(other, { ...call, cells: 0 });
    if (ms === null || startMs === null) return null;
    const { start, cell } = PLAIN_ATTENTION;
    const share = cell[call.phase];
    return attention === 'plain'
      ? start * startMs + share * (ms - startMs)
      : startMs / start + (ms - startMs) / share;
  }

  #slope(attention: AttentionKind, phase: Call['phase']): Slope {
    const key = `${attention} ${phase}`;
    const known = this.#slopes.get(key) ?? this.#fitted(attention, phase);
    this.#slopes.set(key, known);
    return known;
  }

  /**
   * Least squares with one slope for all sizes; the assumed slope weighs as much as samples with the spread `trust`.
   */
  #fitted(attention: AttentionKind, phase: Call['phase']): Slope {
    const assumed =
      attention === 'plain'
        ? PLAIN_ATTENTION.cell[phase] * this.#slope('flash', phase).msPerCell
        : phase === 'decode'
          ? this.#assumedMsPerCell
          : 0;
    let [spread, together] = [0, 0];
    for (const [size, known] of this.#sizes[attention]) {
      if (phase === 'decode' ? typeof size !== 'number' : size !== 'tile') continue;
      spread += known.spread;
      together += known.together;
    }
    const trust = COSTS.slopeTrust[phase];
    const msPerCell = Math.max(0, (together + trust * assumed) / (spread + trust));
    return { msPerCell, isMeasured: spread >= trust };
  }

  /** A number of rows that was slow once is not planned again, so it must be forgotten to be tried again. */
  #forget(): void {
    for (const [attention, sizes] of Object.entries(this.#sizes)) {
      const isNow = attention === this.attention;
      for (const [size, { samples }] of sizes) {
        const isChoice = typeof size === 'number' && size > 1;
        const oldest = this.#calls - (isChoice ? COSTS.choiceForgottenAfter : COSTS.forgottenAfter);
        if ((samples[0]?.at ?? 0) > oldest) continue;
        const kept = samples.filter(({ at }) => at > oldest);
        if (kept.length === 0 && (isChoice || !isNow)) sizes.delete(size);
        // Samples of the other attention are equally old, and only together they show the cost of cells.
        else if (kept.length > 0 && isNow) sizes.set(size, history(kept));
      }
    }
  }
}

export function callSize({ phase, rows }: Pick<Call, 'phase' | 'rows'>): Size {
  if (phase === 'decode') return rows;
  return rows >= ROW_TILE ? 'tile' : 'slice';
}

function decodeSizes(sizes: ReadonlyMap<Size, unknown>): number[] {
  return [...sizes.keys()].filter((size) => typeof size === 'number');
}

/** Rows of one decode call share part of their reads. */
function sharedCells(rows: number, cells: number): number {
  return cells * rows ** COSTS.sharedReads;
}

/** Before any call: decode calls in units of a one-row call, prompt rows as measured on one machine. */
function assumedMs({ phase, rows }: Call): number {
  return phase === 'decode' ? 1 + COSTS.assumedExtraRow * (rows - 1) : rows * ASSUMED_PREFILL_MS_PER_TOKEN;
}

const bin = ({ cells }: Pick<Sample, 'cells'>): number => Math.floor(cells / COSTS.binCells);

/** Keeps a few samples for each number of cells, so that a long answer does not displace all others. */
function withSample(samples: readonly Sample[], sample: Sample): readonly Sample[] {
  const alike = samples.filter((each) => bin(each) === bin(sample));
  const isFull = alike.length >= COSTS.samplesPerBin;
  const dropped = isFull ? alike[0] : samples.length >= COSTS.mostSamples ? samples[0] : undefined;
  return [...samples.filter((each) => each !== dropped), sample];
}

/** Fitting is the most expensive part, so calls with about the same cells share it. */
function extended(known: History | undefined, sample: Sample): History {
  const samples = withSample(known?.samples ?? [], sample);
  const last = known?.samples.at(-1);
  if (known === undefined || last === undefined || bin(last) !== bin(sample)) return history(samples);
  if (sample.at % COSTS.samplesPerBin === 0) return history(samples);
  return { ...known, samples, level: typical(samples.slice(-COSTS.recentCalls)) };
}

function history(samples: readonly Sample[]): History {
  const bins = new Map<number, Sample[]>();
  for (const sample of samples) {
    const alike = bins.get(bin(sample));
    if (alike === undefined) bins.set(bin(sample), [sample]);
    else alike.push(sample);
  }
  const points = [...bins.values()].map((alike) => ({ ...typical(alike), weight: alike.length }));
  const weighted = (value: (point: Mean) => number): number =>
    sum(points.map((point) => point.weight * value(point)));
  const meanCells = weighted(({ cells }) => cells) / samples.length;
  const meanMs = weighted(({ ms }) => ms) / samples.length;
  return {
    samples,
    level: typical(samples.slice(-COSTS.recentCalls)),
    spread: weighted(({ cells }) => (cells - meanCells) ** 2),
    together: weighted(({ cells, ms }) => (cells - meanCells) * (ms - meanMs)),
  };
}

/** Mean without the highest sample, which another program may have caused. */
function typical(samples: readonly Sample[]): Mean {
  const ordered = [...samples].sort((a, b) => a.ms - b.ms);
  const kept = ordered.slice(0, Math.max(1, ordered.length - 1));
  return {
    cells: sum(kept.map(({ cells }) => cells)) / kept.length,
    ms: sum(kept.map(({ ms }) => ms)) / kept.length,
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
