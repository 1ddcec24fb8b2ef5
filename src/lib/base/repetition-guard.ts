/**
 * Detects an answer that repeats itself endlessly. A token repeats if it equals the one a period earlier. Programs
 * and data repeat a lot, but in stretches shorter than the distance to their last copy. So only a run of several
 * periods ends the answer, and a longer run if it repeats numbers without words. Shortly before the end, one token is
 * chosen differently. Memory and time per token are bounded.
 */

export const REPETITION_LIMIT = 256;

/** Copies in addition to the first that make a run of a long text. */
const COPIES = 3;
/** A run with single differences must be longer: table rows can differ in one word of a hundred. */
const VARIED_TOKENS = 512;
/** In such a run, a token that does not repeat cancels this number of repeated ones. */
const DIFFERENCE_TAKES_BACK = 48;
const NUDGE_AT = 0.75;
const MOST_NUDGES = 2;

/** Factor on the run length for numbers, because arrays of numbers repeat more than words. */
const NUMBERS_MAY = 4;

/** Tokens that must be equal to find a period. */
const SHINGLE = 16;
const BUCKET_BITS = 15;
const BASE = 0x9e3779b1;
const OLDEST = Array.from({ length: SHINGLE }).reduce<number>((product) => Math.imul(product, BASE), 1);

interface Asked {
  readonly sampling: { readonly repetitionGuard?: number };
  readonly lane: string;
  readonly ignoresEnd?: boolean;
}

/** 0: no limit, for answers that the caller wants to be endless. */
export function repetitionLimit({ sampling, lane, ignoresEnd }: Asked): number {
  const isMeant = lane !== 'shared' || ignoresEnd === true;
  return sampling.repetitionGuard ?? (isMeant ? 0 : REPETITION_LIMIT);
}

export class RepetitionGuard {
  readonly #limit: number;
  readonly #tokens: readonly number[];
  readonly #joinTokens: (tokens: readonly number[]) => string;
  #isNumbers: boolean | null = null;
  #period = 0;
  /** Repeated tokens: without any difference, and with single differences. */
  #run = 0;
  #varied = 0;
  #nudges = 0;
  /** Answer length up to which the effect of a nudge does not count. */
  #reach = 0;
  #avoided: number | null = null;
  #hash = 0;
  #places: Int32Array | null = null;

  /** `tokens`: the answer, which grows by one before each `note`; `joinTokens`: text of some of them. */
  constructor(limit: number, tokens: readonly number[], joinTokens: (tokens: readonly number[]) => string) {
    this.#limit = limit;
    this.#tokens = tokens;
    this.#joinTokens = joinTokens;
  }

  get isOver(): boolean {
    const varied = COPIES * this.#period + VARIED_TOKENS;
    if (this.#run < this.#least && this.#varied < varied) return false;
    const more = this.#repeatsNumbers ? NUMBERS_MAY : 1;
    return this.#run >= this.#most || this.#varied >= varied * more;
  }

  get avoided(): number | null {
    return this.#avoided;
  }

  get nudges(): number {
    return this.#nudges;
  }

  nudged(): void {
    this.#nudges += 1;
    this.#reach = this.#tokens.length + this.#period + 2 * SHINGLE;
  }

  note(): void {
    const at = this.#tokens.length - 1;
    const place = this.#remember(at);
    this.#avoided = null;
    if (this.#period === 0 || this.#tokens[at] !== this.#tokens[at - this.#period]) this.#differs(at, place);
    else this.#repeats(at);
  }

  get #least(): number {
    return Math.max(this.#limit, COPIES * this.#period);
  }

  get #most(): number {
    return this.#repeatsNumbers ? Math.max(NUMBERS_MAY * this.#limit, this.#least) : this.#least;
  }

  get #repeatsNumbers(): boolean {
    this.#isNumbers ??= isNumbers(this.#joinTokens(this.#tokens.slice(-Math.min(this.#period, MOST_READ))));
    return this.#isNumbers;
  }

  #repeats(at: number): void {
    this.#run += 1;
    this.#varied += 1;
    if (this.#nudges >= MOST_NUDGES || this.#run < Math.floor(this.#least * NUDGE_AT)) return;
    if (this.#run === Math.floor(this.#most * NUDGE_AT))
      this.#avoided = this.#tokens[at + 1 - this.#period] ?? null;
  }

  #differs(at: number, place: number): void {
    const isNudged = at < this.#reach;
    if (!isNudged) this.#run = 0;
    this.#varied = Math.max(0, this.#varied - DIFFERENCE_TAKES_BACK);
    if (place === 0 || !this.#isEqual(place, at)) return;
    this.#period = at - place;
    this.#isNumbers = null;
    this.#varied = SHINGLE;
    if (!isNudged) this.#run = SHINGLE;
  }

  #isEqual(place: number, at: number): boolean {
    for (let back = 0; back < SHINGLE; back += 1)
      if (this.#tokens[place - back] !== this.#tokens[at - back]) return false;
    return true;
  }

  #remember(at: number): number {
    const oldest = at < SHINGLE ? 0 : (this.#tokens[at - SHINGLE] ?? 0) + 1;
    const newest = (this.#tokens[at] ?? 0) + 1;
    this.#hash = (Math.imul(this.#hash, BASE) + newest - Math.imul(oldest, OLDEST)) | 0;
    if (at < SHINGLE) return 0;
    this.#places ??= new Int32Array(2 ** BUCKET_BITS);
    const bucket = Math.imul(this.#hash ^ (this.#hash >>> 15), BASE) >>> (32 - BUCKET_BITS);
    const place = this.#places[bucket] ?? 0;
    this.#places[bucket] = at;
    return place;
  }
}

const MOST_READ = 1_024;

const isNumbers = (text: string): boolean => /\d/.test(text) && !/\p{L}/u.test(text);
