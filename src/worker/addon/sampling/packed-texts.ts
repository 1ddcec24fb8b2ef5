export class PackedTexts {
  /** In token order; a control token contributes its text, which may be a mark. */
  bytes = new Uint8Array(1 << 16);
  /** By token: start of its bytes; the last entry is the end of the last token. */
  readonly offsets: Int32Array;
  readonly isEnd: Uint8Array;

  constructor(size: number) {
    this.offsets = new Int32Array(size + 1);
    this.isEnd = new Uint8Array(size);
  }

  get size(): number {
    return this.isEnd.length;
  }

  add(token: number, bytes: Uint8Array, isEnd: boolean): void {
    const at = this.offsets[token] ?? 0;
    if (at + bytes.length > this.bytes.length) this.#grow(at + bytes.length);
    this.bytes.set(bytes, at);
    this.offsets[token + 1] = at + bytes.length;
    this.isEnd[token] = isEnd ? 1 : 0;
  }

  #grow(needed: number): void {
    const larger = new Uint8Array(Math.max(needed, 2 * this.bytes.length));
    larger.set(this.bytes);
    this.bytes = larger;
  }
}
