/**
 * Builds the value of a document during the scan, so that a large one can be parsed in slices: JSON.parse cannot be
 * interrupted and takes a tenth of a second for the largest body. It trusts the scan except for control characters in
 * strings.
 */
import { decoded } from './json-keys.ts';
import { noteSpelling } from './spelled-numbers.ts';

const BACKSLASH = 0x5c;
/** The scan checks each byte of strings up to this length. */
const SHORT_BYTES = 256;
const IN_CHARACTER = 0b1000_0000;
const CHARACTER_BITS = 0b1100_0000;

type Container = unknown[] | Record<string, unknown>;

export class JsonValues {
  readonly #bytes: Buffer;
  root: unknown;
  readonly #open: Container[] = [];
  readonly #keys: string[] = [];
  /** State of the open string: the decoded part, and the start of the rest. */
  #taken = '';
  #from = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  put(value: unknown): void {
    const container = this.#open.at(-1);
    if (container === undefined) this.root = value;
    else if (Array.isArray(container)) container.push(value);
    else setMember(container, this.#keys[this.#open.length] as string, value);
  }

  putAll(values: readonly unknown[]): void {
    const list = this.#open.at(-1) as unknown[];
    for (const value of values) list.push(value);
  }

  putNumber(value: number, spelling: string): void {
    const container = this.#open.at(-1);
    if (container !== undefined) noteSpelling(container, this.#keyIn(container), spelling);
    this.put(value);
  }

  opens(container: Container): void {
    this.put(container);
    this.#open.push(container);
  }

  closes(): void {
    this.#open.pop();
  }

  beginString(at: number): void {
    this.#taken = '';
    this.#from = at;
  }

  /** Takes the scanned part of a string; `at` never splits an escape, but may split a character. */
  takeUpTo(at: number): void {
    let end = at;
    while (end > this.#from && ((this.#bytes[end] as number) & CHARACTER_BITS) === IN_CHARACTER) end -= 1;
    this.#taken += this.#text(this.#from, end);
    this.#from = end;
  }

  endString(at: number, isKey: boolean): void {
    const rest = this.#text(this.#from, at);
    const text = this.#taken === '' ? rest : this.#taken + rest;
    if (isKey) this.#keys[this.#open.length] = text;
    else this.put(text);
  }

  #keyIn(container: Container): string | number {
    return Array.isArray(container) ? container.length : (this.#keys[this.#open.length] as string);
  }

  #text(start: number, end: number): string {
    const text = this.#bytes.toString('utf8', start, end);
    return end - start <= SHORT_BYTES && !this.#hasEscape(start, end) ? text : decoded(text);
  }

  #hasEscape(start: number, end: number): boolean {
    for (let at = start; at < end; at += 1) if (this.#bytes[at] === BACKSLASH) return true;
    return false;
  }
}

/** Like JSON.parse: `__proto__` is an ordinary member. */
function setMember(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== '__proto__') object[key] = value;
  else Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
}
