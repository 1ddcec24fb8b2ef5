/**
 * What a native call costs by its rows and by the KV state they read, measured while the model runs. Each number of rows
 * has a price of its own, because no rule holds on every machine: two rows cost three times one row here, three cost more
 * than four there. Neither does a price hold for ever: other programs come, threads change.
 */
import { PRICES } from '../../tuning.ts';

interface Price {
  /** The latest, without what the depth of their rows cost. */
  samples: readonly number[];
  /** Time of all calls when it was last seen. */
  seenMs: number;
  /** When the last change was noticed. */
  noted: number;
  /** Seen since the last change. */
  isSettled: boolean;
}

export class CallPrices {
  readonly #prices = new Map<number, Price>();
  readonly #depth = new DepthSlope();
  /** Since the last call: choosing drafts asks for the same ones many times. */
  readonly #estimates = new Map<number, number>();
  #busyMs = 0;
  #changes = 0;

  /** Changes of the machine noticed so far. */
  get changes(): number {
    return this.#changes;
  }

  /** What reading the KV state of one earlier token costs one row. */
  get rowDepthMs(): number {
    return this.#depth.slope;
  }

  /** A call of so many rows, which read `depth` earlier tokens together. */
  observe({ rows, depth, ms }: Readonly<Record<'rows' | 'depth' | 'ms', number>>): void {
    if (rows > PRICES.mostRows) return;
    this.#estimates.clear();
    this.#busyMs += ms;
    this.#depth.observe(rows, depth, ms);
    const sample = Math.max(ms * PRICES.leastWithoutDepth, ms - depth * this.rowDepthMs);
    const before = this.#prices.get(rows);
    // What was seen long ago says nothing about now, unless it is found to be the same.
    if (before !== undefined && (this.isFresh(rows) || isAlike(sample, this.price(rows)))) {
      const samples = [...before.samples.slice(1 - PRICES.samples), sample];
      this.#prices.set(rows, { ...before, samples, seenMs: this.#busyMs, isSettled: true });
      return this.#noteChange(rows);
    }
    this.#prices.set(rows, { samples: [sample], seenMs: this.#busyMs, noted: sample, isSettled: true });
  }

  /** Without depth; null while none was seen. */
  price(rows: number): number | null {
    const samples = this.#prices.get(rows)?.samples ?? [];
    const ascending = [...samples].sort((a, b) => a - b);
    return ascending[Math.floor((ascending.length - 1) * PRICES.quantile)] ?? null;
  }

  /** Whether the price was seen lately and since the last change. */
  isFresh(rows: number): boolean {
    return this.age(rows) <= 1;
  }

  /** Fresh, and seen often enough. */
  isSure(rows: number): boolean {
    return this.isFresh(rows) && (PRICES.doubts[this.#seen(rows)] ?? 0) === 0;
  }

  isSeenOnce(rows: number): boolean {
    return this.#seen(rows) === 1;
  }

  /** How old a price is, in times after which it is forgotten; a change of the machine ages it at once. */
  age(rows: number): number {
    const price = this.#prices.get(rows);
    if (price === undefined) return Number.POSITIVE_INFINITY;
    return (this.#busyMs - price.seenMs) / PRICES.forgetMs + (price.isSettled ? 0 : PRICES.changeAges);
  }

  /** How little a price says, in the same unit: what was seen once or twice may have met a slow moment. */
  doubt(rows: number): number {
    return Math.max(this.age(rows), PRICES.doubts[this.#seen(rows)] ?? 0);
  }

  /** Numbers of rows with a price, in ascending order. */
  get sizes(): number[] {
    return [...this.#prices.keys()].sort((a, b) => a - b);
  }

  /** The price, or what its neighbours make likely; before any call, in calls of one row. */
  estimate(rows: number): number {
    const before = this.#estimates.get(rows);
    if (before !== undefined) return before;
    const found = this.#estimate(rows);
    this.#estimates.set(rows, found);
    return found;
  }

  #estimate(rows: number): number {
    const known = this.price(rows);
    if (known !== null && (this.isFresh(rows) || rows === 1)) return known;
    const fresh = this.sizes.filter((size) => this.isFresh(size) || size === 1);
    const [below, above] = [fresh.filter((size) => size < rows).at(-1), fresh.find((size) => size > rows)];
    const low = below === undefined ? null : (this.price(below) ?? 0);
    const high = above === undefined ? null : (this.price(above) ?? 0);
    if (below !== undefined && low !== null && above !== undefined && high !== null)
      return low + ((high - low) * (rows - below)) / (above - below);
    if (below !== undefined && low !== null)
      return low * (1 + (PRICES.assumedExtraRow * (rows - below)) / below);
    return known ?? high ?? 1 + PRICES.assumedExtraRow * (rows - 1);
  }

  #seen(rows: number): number {
    return this.#prices.get(rows)?.samples.length ?? 0;
  }

  /** What is seen all the time costs more or less than before: the others have probably changed as much; whether they have is found out when they are tried again. */
  #noteChange(rows: number): void {
    const changed = this.#prices.get(rows);
    const price = this.price(rows);
    if (changed === undefined || price === null) return;
    const factor = price / changed.noted;
    if (isAlike(price, changed.noted)) return;
    this.#changes += 1;
    changed.noted = price;
    for (const [size, other] of this.#prices) {
      if (size === rows) continue;
      other.samples = other.samples.map((sample) => sample * factor);
      other.noted *= factor;
      other.isSettled = false;
    }
  }
}

/** Differs no more than noise does. */
function isAlike(ms: number, beforeMs: number | null): boolean {
  return beforeMs !== null && ms < PRICES.changed * beforeMs && beforeMs < PRICES.changed * ms;
}

/** What depth costs: the slope within the calls of equally many rows, over all of them. */
class DepthSlope {
  readonly #means = new Map<number, { weight: number; depth: number; ms: number }>();
  #depthDepth = 0;
  #depthMs = 0;

  get slope(): number {
    return Math.max(0, this.#depthMs / (this.#depthDepth + PRICES.doubtedDepth ** 2));
  }

  observe(rows: number, depth: number, ms: number): void {
    const mean = this.#means.get(rows) ?? { weight: 0, depth, ms };
    const share = 1 / (mean.weight + 1);
    const [byDepth, byMs] = [depth - mean.depth, ms - mean.ms];
    this.#depthDepth = PRICES.depthMemory * this.#depthDepth + (1 - share) * byDepth * byDepth;
    this.#depthMs = PRICES.depthMemory * this.#depthMs + (1 - share) * byDepth * byMs;
    this.#means.set(rows, {
      weight: Math.min(mean.weight + 1, PRICES.depthSamples),
      depth: mean.depth + share * byDepth,
      ms: mean.ms + share * byMs,
    });
  }
}
