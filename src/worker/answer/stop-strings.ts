/**
 * Finds the first stop string in a text that arrives in pieces. A possible beginning of a stop string is held back
 * until it is certain, because no part of a stop string may be released.
 */
interface StopScan {
  readonly text: string;
  readonly stop: string | null;
}

export class StopStrings {
  readonly #stops: readonly string[];
  readonly #longest: number;
  #held = '';
  #found = false;

  constructor(stops: readonly string[]) {
    this.#stops = stops.filter((stop) => stop.length > 0);
    this.#longest = Math.max(0, ...this.#stops.map((stop) => stop.length));
  }

  push(piece: string): StopScan {
    if (this.#found) return { text: '', stop: null };
    const text = this.#held + piece;
    const match = firstMatch(text, this.#stops);
    if (match) {
      this.#found = true;
      this.#held = '';
      return { text: text.slice(0, match.index), stop: match.stop };
    }
    const keep = this.#heldLength(text);
    this.#held = text.slice(text.length - keep);
    return { text: text.slice(0, text.length - keep), stop: null };
  }

  end(withheld: readonly string[] = []): string {
    const held = this.#held;
    this.#held = '';
    return held.slice(0, held.length - this.#heldLength(held, withheld));
  }

  #heldLength(text: string, stops = this.#stops): number {
    for (let length = Math.min(this.#longest - 1, text.length); length > 0; length -= 1) {
      const suffix = text.slice(text.length - length);
      if (stops.some((stop) => stop.length > length && stop.startsWith(suffix))) return length;
    }
    return 0;
  }
}

/**
 * The match that is complete first, and of two that end together the longer. Unlike the match that begins first, it
 * does not depend on how the text is cut.
 */
function firstMatch(text: string, stops: readonly string[]): { index: number; stop: string } | null {
  let best: { index: number; stop: string } | null = null;
  for (const stop of stops) {
    const index = text.indexOf(stop);
    if (index < 0) continue;
    const end = index + stop.length;
    const bestEnd = best === null ? Number.POSITIVE_INFINITY : best.index + best.stop.length;
    if (end < bestEnd || (end === bestEnd && best !== null && index < best.index)) best = { index, stop };
  }
  return best;
}
