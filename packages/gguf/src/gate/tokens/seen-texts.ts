/**
 * Whether a text came before, by 64 bits of a hash whose start nobody outside this process knows: two different texts of
 * the largest vocabulary are taken for one once in a million such files, and no file can be made to be.
 */
import { getRandomValues } from 'node:crypto';

const [START_A = 0, START_B = 0] = getRandomValues(new Uint32Array(2));

export class SeenTexts {
  /** Two halves of a hash for each place; both 0 where there is none. */
  readonly #table: Uint32Array;
  readonly #mask: number;

  /** For so many texts at most. */
  constructor(count: number) {
    const places = 2 ** Math.ceil(Math.log2(Math.max(4, 2 * count)));
    this.#table = new Uint32Array(2 * places);
    this.#mask = places - 1;
  }

  /** The text from `start` to `end`; false when it came before. */
  add(bytes: Uint8Array, start: number, end: number): boolean {
    let a = START_A;
    let b = START_B;
    for (let at = start; at < end; at += 1) {
      const byte = bytes[at] as number;
      a = Math.imul(a ^ byte, 0x01000193);
      a = (a << 13) | (a >>> 19);
      b = Math.imul(b + byte + 1, 0x85ebca6b);
      b ^= b >>> 15;
    }
    a = Math.imul(a ^ (end - start), 0xcc9e2d51) >>> 0;
    b = (b ^ (a >>> 7)) >>> 0 || 1;
    const table = this.#table;
    for (let place = a & this.#mask; ; place = (place + 1) & this.#mask) {
      const [left, right] = [table[2 * place], table[2 * place + 1]];
      if (left === 0 && right === 0) {
        table[2 * place] = a;
        table[2 * place + 1] = b;
        return true;
      }
      if (left === a && right === b) return false;
    }
  }
}
