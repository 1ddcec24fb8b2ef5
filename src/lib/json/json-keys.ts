/** Checks the keys of one JSON object: no duplicates, and none with a meaning in JavaScript. */
import { fail, type SvcError } from '../errors/svc-error.ts';

const BACKSLASH = 0x5c;
const FEW_KEYS = 16;
const PROTO = '__proto__';
/** Random, so that documents cannot be built to collide. */
const SALT = Math.trunc(Math.random() * 2 ** 31);

/** Compares bytes, which creates no strings; compares text if a key has an escape. */
export class JsonKeys {
  readonly #bytes: Buffer;
  readonly #places: number[] = [];
  #byPrint: Map<number, number> | undefined;
  #texts: Set<string> | undefined;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  note(start: number, end: number): void {
    const print = this.#texts === undefined ? this.#fingerprint(start, end) : null;
    if (print !== null && this.#notePlace(start, end, print)) return;
    this.#texts ??= this.#decoded();
    const key = this.#text(start, end);
    if (key === PROTO) throw namesProto();
    if (this.#texts.has(key)) throw namesTwice();
    this.#texts.add(key);
  }

  #notePlace(start: number, end: number, print: number): boolean {
    const places = this.#places;
    if (end - start === PROTO.length && this.#text(start, end) === PROTO) throw namesProto();
    const alike = this.#findPlace(print);
    if (alike !== undefined) {
      const [otherStart, otherEnd] = [places[alike] as number, places[alike + 1] as number];
      if (this.#isSame(otherStart, otherEnd, start, end)) throw namesTwice();
      return false;
    }
    this.#byPrint?.set(print, places.length);
    places.push(start, end, print);
    return true;
  }

  #findPlace(print: number): number | undefined {
    const places = this.#places;
    if (places.length >= 3 * FEW_KEYS) {
      this.#byPrint ??= new Map(
        Array.from({ length: FEW_KEYS }, (_, at) => [places[3 * at + 2] as number, 3 * at]),
      );
      return this.#byPrint.get(print);
    }
    for (let at = 0; at < places.length; at += 3) if (places[at + 2] === print) return at;
    return undefined;
  }

  #fingerprint(start: number, end: number): number | null {
    let print = SALT;
    for (let at = start; at < end; at += 1) {
      const byte = this.#bytes[at] as number;
      if (byte === BACKSLASH) return null;
      print = Math.imul(print ^ byte, 0x01000193);
    }
    return print;
  }

  #isSame(one: number, oneEnd: number, other: number, otherEnd: number): boolean {
    if (oneEnd - one !== otherEnd - other) return false;
    for (let at = other; at < otherEnd; at += 1)
      if (this.#bytes[at] !== this.#bytes[one + at - other]) return false;
    return true;
  }

  #decoded(): Set<string> {
    const texts = new Set<string>();
    for (let at = 0; at < this.#places.length; at += 3)
      texts.add(this.#text(this.#places[at] as number, this.#places[at + 1] as number));
    return texts;
  }

  /** Decodes escapes, otherwise "\u0061" and "a" would count as two keys. */
  #text(start: number, end: number): string {
    const written = this.#bytes.toString('utf8', start, end);
    return written.includes('\\') ? decoded(written) : written;
  }
}

const namesProto = (): SvcError => unusable('the key "__proto__" is not allowed');
const namesTwice = (): SvcError => unusable('an object names the same key twice');

export const unusable = (reason: string): SvcError => fail('invalid_json', { reason });

/**
 * Content of a string, or a part between whole characters and escapes. Also rejects control characters, which the
 * scan skips in long strings.
 */
export function decoded(written: string): string {
  try {
    return JSON.parse(`"${written}"`) as string;
  } catch {
    throw unusable('a string holds a control character');
  }
}
