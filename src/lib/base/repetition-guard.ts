/**
 * Notices an answer that repeats itself without end. A token repeats when it stood in the answer one period ago. Programs
 * and data repeat a lot, but what they repeat is shorter than the way back to its last copy: only a run of several periods
 * ends the answer, a longer one where it repeats numbers and no word. Shortly before, one token is chosen differently. Memory
 * and time per token are bounded.
 */

/** Tokens of repetition after which an answer ends. */
export const REPETITION_LIMIT = 256;

/** Copies of a long text that are a run, beside the first one. */
const COPIES = 3;
/** A run with single differences must be longer: rows of a table can differ in one word of a hundred. */
const VARIED_TOKENS = 512;
/** There, a token that does not repeat takes back so many that do. */
const DIFFERENCE_TAKES_BACK = 48;
/** Share of a run after which another token is chosen. */
const NUDGE_AT = 0.75;
const MOST_NUDGES = 2;

/** Arrays of numbers repeat more than words do: what repeats them may be so many times as long. */
const NUMBERS_MAY = 4;

/** A period is where so many tokens stood last. */
const SHINGLE = 16;
const BUCKET_BITS = 15;
const BASE = 0x9e3779b1;
const OLDEST = Array.from({ length: SHINGLE }).reduce<number>((product) => Math.imul(product, BASE), 1);

/** Settings of a job. */
interface Asked {
  readonly sampling: { readonly repetitionGuard?: number };
  readonly lane: string;
  readonly ignoresEnd?: boolean;
}

/** 0: the answer may go on; one that no token may end is meant to. */
export function repetitionLimit({ sampling, lane, ignoresEnd }: Asked): number {
  const isMeant = lane !== 'shared' || ignoresEnd === true;
  return sampling.repetitionGuard ?? (isMeant ? 0 : REPETITION_LIMIT);
}

export class RepetitionGuard {
  readonly #limit: number;
  readonly #tokens: readonly number[];
  readonly #joinTokens: (tokens: readonly number[]) => string;
  /** Whether the repeated text has digits and no letters; null: not known yet. */
  #isNumbers: boolean | null = null;
  /** 0: none is known. */
  #period = 0;
  /** Tokens that repeated without any that did not, and with single ones between them. */
  #run = 0;
  #varied = 0;
  #nudges = 0;
  /** Until the answer is so long, what a nudge changed does not count. */
  #reach = 0;
  #avoided: number | null = null;
  #hash = 0;
  /** By the hash of a shingle, where it ended last. Made when an answer is long enough to need it. */
  #places: Int32Array | null = null;

  /** `tokens`: the answer, which grows by one before each `note`; `joinTokens`: what some of them say. */
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

  /** The token that would go on with the repetition, when it is time to choose another one. */
  get avoided(): number | null {
    return this.#avoided;
  }

  get nudges(): number {
    return this.#nudges;
  }

  /** Another token than the avoided one was chosen. */
  nudged(): void {
    this.#nudges += 1;
    this.#reach = this.#tokens.length + this.#period + 2 * SHINGLE;
  }

  /** The last token of the answer is new. */
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

  /** Read once for each period, and only where it matters. */
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

  /** Whether the shingles that end there are equal, and not only their buckets. */
  #isEqual(place: number, at: number): boolean {
    for (let back = 0; back < SHINGLE; back += 1)
      if (this.#tokens[place - back] !== this.#tokens[at - back]) return false;
    return true;
  }

  /** Latest possible earlier end of the shingle that ends here; 0: none. */
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

/** Tokens of a block that are looked at. */
const MOST_READ = 1_024;

const isNumbers = (text: string): boolean => /\d/.test(text) && !/\p{L}/u.test(text);
