import koffi from 'koffi';
import { type Pointer, TokenData, type TokenDataArray } from '../library/layouts.ts';
import type { Logits, LogitsWanted, TokenLogit } from '../../native.ts';

const WORDS = 3;
/** For more than this, the library is faster: it sorts all of them. */
export const MOST_LARGEST = 128;

/** The first of the largest, as llama.cpp's greedy sampler takes it. */
export function argmax(logits: Float32Array): number {
  let largest = logits[0] ?? Number.NEGATIVE_INFINITY;
  let token = 0;
  for (let at = 1; at < logits.length; at += 1) {
    const logit = logits[at] as number;
    if (logit > largest) {
      largest = logit;
      token = at;
    }
  }
  return token;
}

/** The `count` largest, in descending order; the lower token first among equals. */
export function largestLogits(logits: Float32Array, count: number): TokenLogit[] {
  return findLargest(logits, count).list(count);
}

function findLargest(logits: Float32Array, count: number): Largest {
  const found = new Largest(Math.min(count, logits.length));
  const { size } = found;
  for (let token = 0; token < size; token += 1) found.put(token, logits[token] as number);
  let { least } = found;
  const four = logits.length - 3;
  let token = size;
  // Nearly all are smaller than the least kept one: four at a time take half as long, and every stream pays this at
  // every token.
  for (; token < four; token += 4) {
    if (
      (logits[token] as number) <= least &&
      (logits[token + 1] as number) <= least &&
      (logits[token + 2] as number) <= least &&
      (logits[token + 3] as number) <= least
    )
      continue;
    for (let each = token; each < token + 4; each += 1) found.put(each, logits[each] as number);
    least = found.least;
  }
  for (; token < logits.length; token += 1) found.put(token, logits[token] as number);
  return found;
}

class Largest {
  readonly size: number;
  readonly #values: Float32Array;
  readonly #tokens: Int32Array;
  #count = 0;

  constructor(size: number) {
    this.size = size;
    this.#values = new Float32Array(size).fill(Number.NEGATIVE_INFINITY);
    this.#tokens = new Int32Array(size);
  }

  get least(): number {
    return this.#values[this.size - 1] ?? Number.POSITIVE_INFINITY;
  }

  put(token: number, logit: number): void {
    const values = this.#values;
    const tokens = this.#tokens;
    const isFull = this.#count === this.size;
    if (isFull && !(logit > this.least)) return;
    let place = isFull ? this.size - 1 : this.#count;
    if (!isFull) this.#count += 1;
    while (place > 0 && (values[place - 1] as number) < logit) {
      values[place] = values[place - 1] as number;
      tokens[place] = tokens[place - 1] as number;
      place -= 1;
    }
    values[place] = logit;
    tokens[place] = token;
  }

  get most(): number {
    return this.#values[0] ?? Number.NEGATIVE_INFINITY;
  }

  /** The first of them that is no larger; -1 if all are. */
  place(logit: number): number {
    return this.#values.findIndex((value) => !(value > logit));
  }

  list(count: number): TokenLogit[] {
    const tokens = this.#tokens.subarray(0, count);
    return Array.from(tokens, (token, at) => ({ token, logit: this.#values[at] as number }));
  }
}

/** This many cost as much as one, and nearly every token of a text is among them, so that its rank is known. */
const RANKED = 16;

export function pickLogits(logits: Float32Array, { tokens, largest }: LogitsWanted): Logits {
  const found = findLargest(logits, Math.max(tokens.length === 0 ? 1 : RANKED, largest));
  const { most } = found;
  return {
    of: withTokens(found.list(largest), logits, tokens),
    largest: most,
    totalWeight: () => sumWeights(logits, most),
    tokenRank: (token) => tokenRank(logits, found, token),
  };
}

export function withTokens(
  found: readonly TokenLogit[],
  logits: Float32Array,
  tokens: readonly number[],
): TokenLogit[] {
  const others = tokens.filter((token) => !found.some((entry) => entry.token === token));
  return [...found, ...others.map((token) => ({ token, logit: logits[token] ?? Number.NEGATIVE_INFINITY }))];
}

const STEP_BITS = 11;
const STEPS = 1 << STEP_BITS;
const STEPS_PER_NAT = STEPS / Math.LN2;
const NATS_PER_STEP = Math.LN2 / STEPS;
/** Powers of two below this add nothing that a sum over any vocabulary would show. */
const LEAST_POWER = 64;
const FRACTIONS = Float64Array.from({ length: STEPS }, (_, step) => 2 ** (-step / STEPS));
const POWERS = Float64Array.from({ length: LEAST_POWER }, (_, power) => 2 ** -power);

/**
 * Sum of exp(logit - largest), by tables and two terms of the series, correct to ten digits: Math.exp takes four
 * times as long, and a scored prompt pays this for each of its tokens.
 */
function sumWeights(logits: Float32Array, largest: number): number {
  let sum = 0;
  for (let token = 0; token < logits.length; token += 1) {
    const scaled = (largest - (logits[token] as number)) * STEPS_PER_NAT;
    if (scaled >= STEPS * LEAST_POWER) continue;
    const whole = scaled | 0;
    const rest = (whole - scaled) * NATS_PER_STEP;
    const power = (FRACTIONS[whole & (STEPS - 1)] as number) * (POWERS[whole >> STEP_BITS] as number);
    sum += power * (1 + rest * (1 + rest * 0.5));
  }
  return sum;
}

function tokenRank(logits: Float32Array, found: Largest, token: number): number {
  const own = logits[token] as number;
  const place = found.place(own);
  if (place >= 0) return place + 1;
  let larger = 0;
  for (let other = 0; other < logits.length; other += 1) if ((logits[other] as number) > own) larger += 1;
  return larger + 1;
}

export class Candidates {
  readonly #address: Pointer;
  readonly #tokens: Int32Array;
  readonly #logits: Float32Array;

  constructor(vocabularySize: number) {
    this.#address = koffi.alloc(TokenData, vocabularySize) as Pointer;
    const memory = koffi.view(this.#address, vocabularySize * WORDS * 4);
    this.#tokens = new Int32Array(memory);
    this.#logits = new Float32Array(memory);
  }

  all(logits: Float32Array): TokenDataArray {
    for (let token = 0, at = 0; token < logits.length; token += 1, at += WORDS) {
      this.#tokens[at] = token;
      this.#logits[at + 1] = logits[token] as number;
      this.#logits[at + 2] = 0;
    }
    return this.#array(logits.length);
  }

  allowed(logits: Float32Array, mask: Uint8Array): TokenDataArray {
    const array = this.all(logits);
    for (let token = 0, at = 1; token < logits.length; token += 1, at += WORDS)
      if (mask[token] !== 1) this.#logits[at] = Number.NEGATIVE_INFINITY;
    return array;
  }

  some(chosen: readonly TokenLogit[]): TokenDataArray {
    for (const [place, { token, logit }] of chosen.entries()) {
      this.#tokens[place * WORDS] = token;
      this.#logits[place * WORDS + 1] = logit;
      this.#logits[place * WORDS + 2] = 0;
    }
    return this.#array(chosen.length);
  }

  selected({ data, size, selected }: TokenDataArray): number | null {
    if (selected < 0 || selected >= size) return null;
    // A sampler may have moved the array.
    if (data === this.#address) return this.#tokens[selected * WORDS] ?? null;
    return koffi.decode(data, selected * WORDS * 4, 'int32') as number;
  }

  #array(size: number): TokenDataArray {
    return { data: this.#address, size, selected: -1, sorted: false };
  }
}
