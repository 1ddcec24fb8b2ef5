/**
 * Chooses how decode rows are evaluated: the cheapest way by the prices known, and now and then one that may be cheaper,
 * so that its price becomes known. What such trials lose is bounded by a share of the time that steps take.
 */
import { TRIALS, WORTH_PARTING } from '../../tuning.ts';
import type { CallPrices } from './call-prices.ts';
import {
  cheapestWay,
  type Place,
  runsOf,
  sizesWorthTrying,
  type Span,
  spanOf,
  type Way,
} from './decode-ways.ts';

export class WayChoice {
  readonly #prices: CallPrices;
  /** What trials may lose; null before the first step. */
  #creditMs: number | null = null;
  #trial: { readonly bestMs: number; spentMs: number } | null = null;
  #busyMs = 0;
  /** Of the last step, all its calls together. */
  #stepMs = 0;
  #grantedMs = 0;
  #changes = 0;
  /** Finding a way takes a tenth of a millisecond, which a small model would feel at every step. */
  #last: { readonly shape: string; readonly way: Way; same: number; used: number } | null = null;

  constructor(prices: CallPrices) {
    this.#prices = prices;
  }

  /** `mayTry`: nobody waits for anything but these rows. */
  choose(places: readonly Place[], options: { readonly mayTry: boolean }): Way {
    const way = this.#choose(places, options);
    this.#stepMs = way.ms;
    return way;
  }

  #choose(places: readonly Place[], { mayTry }: { readonly mayTry: boolean }): Way {
    this.#settle();
    const shape = places.map(({ kind }) => kind).join();
    const last = this.#last?.shape === shape ? this.#last : null;
    if (last !== null && last.used < Math.min(last.same, TRIALS.reusedSteps)) {
      last.used += 1;
      return last.way;
    }
    const best = this.best(places);
    const tried = mayTry ? this.#worthTrying(places, best) : null;
    if (tried !== null) {
      this.#last = null;
      this.#trial = { bestMs: best.ms, spentMs: 0 };
      return tried;
    }
    const isSame = last !== null && sizesOf(last.way) === sizesOf(best);
    this.#last = { shape, way: best, same: isSame ? last.same + 1 : 0, used: 0 };
    return best;
  }

  /**
   * The cheapest way known. Rows that can be together are, as long as nobody knows what that costs, unless it could only
   * be dearer than what is known.
   */
  best(places: readonly Place[]): Way {
    if (places.length === 1) return this.#estimated(runsOf(places), places);
    const unknown = runsOf(places)
      .map(({ rows }) => rows)
      .filter((rows) => this.#prices.price(rows) === null);
    const together = this.#estimated(runsOf(places), places);
    const way = this.#cheapest(places, unknown);
    if (way === null) return together;
    const apart = this.#estimated(way.spans, places);
    return unknown.length === 0 && apart.ms > WORTH_PARTING * together.ms ? together : apart;
  }

  /** A decode call took this long. */
  observe(ms: number): void {
    this.#busyMs += ms;
    this.#creditMs ??= TRIALS.firstCredit * ms;
    const most = Math.max(this.#creditMs, TRIALS.mostSaved * Math.max(ms, this.#stepMs));
    this.#creditMs = Math.min(most, this.#creditMs + TRIALS.share * ms);
    if (this.#trial !== null) this.#trial.spentMs += ms;
    if (this.#changes !== this.#prices.changes) this.#grant(ms);
  }

  /** The machine has changed: a trial is likelier to pay, but changes every second are no reason to try all the time. */
  #grant(ms: number): void {
    this.#changes = this.#prices.changes;
    this.#last = null;
    if (this.#busyMs - this.#grantedMs < TRIALS.grantMs) return;
    this.#grantedMs = this.#busyMs;
    this.#creditMs = Math.max(this.#creditMs ?? 0, TRIALS.granted * ms);
  }

  #settle(): void {
    if (this.#trial === null) return;
    this.#creditMs = (this.#creditMs ?? 0) - Math.max(0, this.#trial.spentMs - this.#trial.bestMs);
    this.#trial = null;
  }

  /** The most promising of those that may be lost. */
  #worthTrying(places: readonly Place[], best: Way): Way | null {
    const hopes = sizesWorthTrying(places)
      .filter((size) => !this.#prices.isSure(size))
      .flatMap((size) => {
        const hoped = this.#cheapest(places, [size]);
        const isPart = hoped?.spans.some(({ rows }) => rows === size) ?? false;
        return hoped !== null && isPart && hoped.ms < TRIALS.promising * best.ms
          ? [{ size, ms: hoped.ms }]
          : [];
      });
    for (const { size } of hopes.sort((a, b) => a.ms - b.ms)) {
      const way = this.#trialOf(size, places);
      if (way !== null && this.#affords(size, way, best)) return way;
    }
    return null;
  }

  /** What was seen once may be seen again whatever is owed: one slow moment must not decide until it is forgotten. */
  #affords(size: number, way: Way, best: Way): boolean {
    const stakeMs = Math.max(TRIALS.leastStake * best.ms, way.ms - best.ms);
    const owedMs = this.#prices.isSeenOnce(size) ? TRIALS.secondLook * best.ms : 0;
    return stakeMs <= Math.max(owedMs, this.#creditMs ?? 0);
  }

  /** One call of this size, and the others as cheap as possible. */
  #trialOf(size: number, places: readonly Place[]): Way | null {
    const span = spanOf(size, places);
    if (span === null) return null;
    const end = span.from + size;
    const before = this.best(places.slice(0, span.from));
    const after = this.best(places.slice(end)).spans.map(({ from, rows }) => ({ from: from + end, rows }));
    return this.#estimated([...before.spans, span, ...after], places);
  }

  #estimated(spans: readonly Span[], places: readonly Place[]): Way {
    const idleMs = (span: Span): number =>
      places
        .slice(span.from, span.from + span.rows)
        .reduce((sum, place) => sum + (place.kind === 'idle' ? place.idleMs : 0), 0);
    const priceOf = ({ rows }: Span): number => this.#prices.price(rows) ?? this.#prices.estimate(rows);
    return { spans, ms: spans.reduce((sum, span) => sum + priceOf(span) + idleMs(span), 0) };
  }

  /** `hoped`: numbers of rows that are taken for as cheap as they can be. */
  #cheapest(places: readonly Place[], hoped: readonly number[]): Way | null {
    const sizes = [...new Set([...this.#prices.sizes, ...hoped])];
    const price = (rows: number): number | null =>
      hoped.includes(rows) ? this.#leastPrice(rows) : this.#prices.price(rows);
    return cheapestWay(places, { price, sizes });
  }

  /** More rows hardly cost less; and what was seen before can have changed the more, the longer ago that was. */
  #leastPrice(rows: number): number {
    const price = this.#prices.price(rows);
    if (price !== null) return price * TRIALS.hope ** this.#prices.doubt(rows);
    const below = this.#prices.sizes.filter((size) => size < rows).at(-1);
    return below === undefined ? 0 : (this.#prices.price(below) ?? 0) * TRIALS.hope;
  }
}

function sizesOf({ spans }: Way): string {
  return spans.map(({ from, rows }) => `${from}:${rows}`).join();
}
