/**
 * What a native call takes by its rows, at the depth and in the company of late: no rule holds on every machine. A price
 * that was not seen for long is forgotten, so that one slow moment does not rule out for ever what it met.
 */
import { movedPrice } from '../../moving-price.ts';
import { PRICES } from '../../tuning.ts';

export class CallPrices {
  readonly #prices = new Map<number, { readonly ms: number; readonly seenAt: number }>();
  /** Since the last call: choosing drafts asks for the same ones many times. */
  readonly #estimates = new Map<number, number>();
  #calls = 0;

  observe(rows: number, ms: number): void {
    this.#estimates.clear();
    this.#calls += 1;
    this.#prices.set(rows, { ms: movedPrice(this.#prices.get(rows)?.ms, ms), seenAt: this.#calls });
    for (const [size, { seenAt }] of this.#prices)
      if (size > 1 && this.#calls - seenAt >= PRICES.forgottenAfter) this.#prices.delete(size);
  }

  /** Of a call of one row; null while none was seen. */
  get rowMs(): number | null {
    return this.#prices.get(1)?.ms ?? null;
  }

  /** What was measured, or what its neighbours make likely; before any call, in calls of one row. */
  estimate(rows: number): number {
    const ms = this.#estimates.get(rows) ?? this.#estimate(rows);
    this.#estimates.set(rows, ms);
    return ms;
  }

  #estimate(rows: number): number {
    const sizes = [...this.#prices.keys()];
    const below = Math.max(...sizes.filter((size) => size <= rows));
    const above = Math.min(...sizes.filter((size) => size >= rows));
    const low = this.#prices.get(below)?.ms;
    const high = this.#prices.get(above)?.ms;
    if (low === undefined) return high ?? 1 + PRICES.assumedExtraRow * (rows - 1);
    if (high === undefined) return low * (1 + (PRICES.assumedExtraRow * (rows - below)) / below);
    return above === below ? low : low + ((high - low) * (rows - below)) / (above - below);
  }
}
