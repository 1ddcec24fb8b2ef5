/**
 * Reads a header front to back through a small window and hashes it. It never allocates by a length that the file
 * states: every length is first compared with the remaining bytes. Reads within the window are synchronous, so that a
 * vocabulary of a million strings does not cost a million promises.
 */
import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { LIMITS } from './limits.ts';

/** Throws with one sentence about the file. */
export type Refuse = (reason: string) => never;

const WINDOW_BYTES = 256 * 1024;

export class HeaderCursor {
  readonly #file: FileHandle;
  readonly #endAt: number;
  readonly #refuse: Refuse;
  readonly #hash = createHash('sha256');
  #memory = Buffer.alloc(0);
  #window = this.#memory;
  #windowAt = 0;
  #next = 0;

  constructor(file: FileHandle, sizeBytes: number, refuse: Refuse) {
    this.#file = file;
    this.#endAt = Math.min(sizeBytes, LIMITS.headerBytes);
    this.#refuse = refuse;
  }

  get position(): number {
    return this.#windowAt + this.#next;
  }

  /** Bytes up to the end of the file or the limit for headers. */
  get remaining(): number {
    return this.#endAt - this.position;
  }

  holds(count: number): boolean {
    return this.#window.length - this.#next >= count;
  }

  /** Makes `count` bytes available; refuses a file that ends before. */
  async need(count: number, what: string): Promise<void> {
    if (this.holds(count)) return;
    if (count > this.remaining) this.#refuse(this.#ending(what));
    this.#hashConsumed();
    const size = Math.min(Math.max(WINDOW_BYTES, count), this.remaining);
    if (size > this.#memory.length) this.#memory = Buffer.alloc(size);
    const window = this.#memory.subarray(0, size);
    let filled = this.#window.copy(window, 0, this.#next);
    this.#windowAt += this.#next;
    this.#next = 0;
    while (filled < window.length) {
      const { bytesRead } = await this.#file.read(
        window,
        filled,
        window.length - filled,
        this.#windowAt + filled,
      );
      if (bytesRead === 0) this.#refuse('the file was truncated while being read');
      filled += bytesRead;
    }
    this.#window = window;
  }

  /** Returns available bytes; valid until the next `need`. */
  take(count: number): Buffer {
    const start = this.pass(count);
    return this.#window.subarray(start, start + count);
  }

  pass(count: number): number {
    const start = this.#next;
    this.#next += count;
    return start;
  }

  get window(): Buffer {
    return this.#window;
  }

  u32(): number {
    return this.#window.readUInt32LE(this.pass(4));
  }

  u64(): bigint {
    return this.#window.readBigUInt64LE(this.pass(8));
  }

  /** Reads a 64-bit length and refuses one beyond the rest of the file. */
  async length(what: string): Promise<number> {
    if (!this.holds(8)) await this.need(8, what);
    return this.heldLength(what);
  }

  heldLength(what: string): number {
    const at = this.pass(8);
    // Most lengths are short, and creating a BigInt for each would take longer than all other work on the text.
    const low = this.#window.readUInt32LE(at);
    if (this.#window.readUInt32LE(at + 4) === 0 && low <= this.remaining) return low;
    const length = this.#window.readBigUInt64LE(at);
    return this.#refuse(`${what} claims ${length} bytes where ${this.remaining} are left`);
  }

  /** The caller has checked that the file has this number of bytes left. */
  async skip(count: number, what: string): Promise<void> {
    let left = count;
    while (left > 0) {
      const step = Math.min(left, WINDOW_BYTES);
      await this.need(step, what);
      this.pass(step);
      left -= step;
    }
  }

  digest(): string {
    this.#hashConsumed();
    return this.#hash.digest('hex');
  }

  #ending(what: string): string {
    if (this.#endAt === LIMITS.headerBytes) return `its header is longer than ${LIMITS.headerBytes} bytes`;
    return `the file ends inside ${what}, at byte ${this.#endAt}`;
  }

  #hashConsumed(): void {
    this.#hash.update(this.#window.subarray(0, this.#next));
  }
}
