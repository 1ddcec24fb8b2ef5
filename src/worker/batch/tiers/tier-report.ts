import { isDeepStrictEqual } from 'node:util';
import { type CacheTiers, TIER_REPORT_MS } from '../../../contract/slots.ts';

export class TierReport {
  readonly #read: () => CacheTiers;
  readonly #tell: (tiers: CacheTiers) => void;
  #reported: CacheTiers | null = null;
  #isDue = false;

  constructor(read: () => CacheTiers, tell: (tiers: CacheTiers) => void) {
    this.#read = read;
    this.#tell = tell;
  }

  changed(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    setTimeout(() => this.#report(), TIER_REPORT_MS).unref();
  }

  #report(): void {
    this.#isDue = false;
    const tiers = this.#read();
    if (isDeepStrictEqual(tiers, this.#reported)) return;
    this.#reported = tiers;
    this.#tell(tiers);
  }
}
