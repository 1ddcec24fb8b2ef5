/** What a thing of one kind costs lately. No accident makes a call fast, but many make one slow. Pure. */
import { PRICE_WEIGHTS } from './tuning.ts';

export function movedPrice(known: number | undefined, sample: number): number {
  if (known === undefined) return sample;
  const weight = sample < known ? PRICE_WEIGHTS.faster : PRICE_WEIGHTS.usual;
  return known * (1 - weight) + sample * weight;
}
