/**
 * Format of the state of one sequence in llama.cpp (llama_kv_cache::state_write), parsed to store and reassemble the
 * state of some tokens. A state that does not match this format to its last byte is kept whole. Pure.
 */

export interface StateLayout {
  readonly magic: number;
  /** KV streams of the context; the state belongs to one of them. */
  readonly streams: number;
  readonly transposed: boolean;
  /** Type and bytes of a cell's keys, by layer. */
  readonly keys: readonly (readonly [type: number, rowBytes: number])[];
  /** The same for values; if transposed: type, bytes of an element, elements. */
  readonly values: readonly (readonly number[])[];
}

export interface ReadState {
  readonly layout: StateLayout;
  readonly bytes: Uint8Array;
  readonly tokens: number;
  readonly cellByToken: Int32Array | null;
  readonly planes: readonly Plane[];
}

export interface Plane {
  readonly at: number;
  readonly stride: number;
}

/** Rows are copied in pieces that stay in the CPU's cache: decryption allocates memory for each piece. */
const PIECE_BYTES = 64 * 1024;
const CELL_BYTES = 12;
const LAYER_BYTES = 12;
const MOST_STREAMS = 4_096;
const MOST_LAYERS = 4_096;
const MOST_ELEMENTS = 1 << 20;

/** Null unless the state is the plain one of `tokens` tokens from position `start` on. */
export function readState(bytes: Uint8Array, tokens: number, start = 0): ReadState | null {
  try {
    return new LayoutParser(bytes, { start, tokens }).read();
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

export function bytesPerToken(layout: StateLayout): number {
  return rowStrides(layout).reduce((sum, stride) => sum + stride, 0);
}

/** Rows of the tokens from `start` to `end`, plane by plane; views without a copy if the cells are in order. */
export function* rowPieces(state: ReadState, start: number, end: number): Generator<Uint8Array> {
  if (state.cellByToken !== null) return yield copyRows(state, start, end);
  for (const { at, stride } of state.planes)
    yield state.bytes.subarray(at + start * stride, at + end * stride);
}

export function copyRows(state: ReadState, start: number, end: number): Uint8Array {
  const count = end - start;
  const rows = Buffer.allocUnsafeSlow(count * bytesPerToken(state.layout));
  let at = 0;
  for (const { at: plane, stride } of state.planes) {
    if (state.cellByToken === null) {
      rows.set(state.bytes.subarray(plane + start * stride, plane + end * stride), at);
    } else {
      for (let i = 0; i < count; i += 1) {
        const cell = plane + (state.cellByToken[start + i] ?? 0) * stride;
        rows.set(state.bytes.subarray(cell, cell + stride), at + i * stride);
      }
    }
    at += count * stride;
  }
  return rows;
}

export interface Stretch {
  readonly start: number;
  readonly tokens: number;
}

export class StateBuilder {
  readonly bytes: Uint8Array;
  readonly #start: number;
  readonly #planes: readonly Plane[];

  constructor(layout: StateLayout, stretch: Stretch, memory?: Uint8Array) {
    const { bytes, planes } = frame(layout, stretch, memory);
    this.bytes = bytes;
    this.#start = stretch.start;
    this.#planes = planes;
  }

  /**
   * Adds the first `used` of a block of `held` tokens at position `start`; `next` returns the block's rows in order.
   */
  add(
    { start, held, used }: { readonly start: number; readonly held: number; readonly used: number },
    next: (bytes: number) => Uint8Array,
  ): void {
    const first = start - this.#start;
    for (const { at, stride } of this.#planes) {
      const end = at + (first + used) * stride;
      for (let to = at + first * stride, left = held * stride; left > 0; ) {
        const piece = next(Math.min(left, PIECE_BYTES));
        if (to < end) this.bytes.set(piece.subarray(0, end - to), to);
        to += piece.length;
        left -= piece.length;
      }
    }
  }
}

function rowStrides({ keys, values, transposed }: StateLayout): number[] {
  const ofValues = transposed
    ? values.flatMap(([, element = 0, count = 0]) => Array.from({ length: count }, () => element))
    : values.map(([, row = 0]) => row);
  return [...keys.map(([, row]) => row), ...ofValues];
}

export function frame(
  layout: StateLayout,
  { start, tokens }: Stretch,
  memory?: Uint8Array,
): { bytes: Uint8Array; planes: Plane[] } {
  const { magic, streams, transposed, keys, values } = layout;
  const perLayer = (keys.length + values.length) * LAYER_BYTES;
  const size = 8 + 4 + streams * 4 + tokens * CELL_BYTES + 8 + perLayer + tokens * bytesPerToken(layout);
  const isEnough = memory !== undefined && memory.buffer.byteLength >= size;
  const bytes = isEnough ? Buffer.from(memory.buffer, 0, size) : Buffer.allocUnsafeSlow(size);
  let at = bytes.writeUInt32LE(magic, 0);
  at = bytes.writeInt32LE(0, at);
  at = bytes.writeUInt32LE(streams, at);
  at = bytes.writeUInt32LE(tokens, at);
  for (let position = start; position < start + tokens; position += 1) {
    at = bytes.writeInt32LE(position, at);
    at = bytes.writeUInt32LE(1, at);
    at = bytes.writeInt32LE(0, at);
  }
  at = bytes.writeUInt32LE(transposed ? 1 : 0, at);
  at = bytes.writeUInt32LE(keys.length, at);
  const planes: Plane[] = [];
  const plane = (stride: number): void => {
    planes.push({ at, stride });
    at += tokens * stride;
  };
  for (const [type, row] of keys) {
    at = bytes.writeInt32LE(type, at);
    at = bytes.writeBigUInt64LE(BigInt(row), at);
    plane(row);
  }
  for (const [type = 0, bytesPerRow = 0, elements = 0] of values) {
    at = bytes.writeInt32LE(type, at);
    if (!transposed) {
      at = bytes.writeBigUInt64LE(BigInt(bytesPerRow), at);
      plane(bytesPerRow);
      continue;
    }
    at = bytes.writeUInt32LE(bytesPerRow, at);
    at = bytes.writeUInt32LE(elements, at);
    for (let element = 0; element < elements; element += 1) plane(bytesPerRow);
  }
  for (let stream = 1; stream < streams; stream += 1) at = bytes.writeUInt32LE(0, at);
  if (at !== size) throw new Error('the state of a sequence has another size than was reckoned');
  return { bytes, planes };
}

class LayoutParser {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #start: number;
  readonly #tokens: number;
  #at = 0;

  constructor(bytes: Uint8Array, { start, tokens }: Stretch) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#start = start;
    this.#tokens = tokens;
  }

  read(): ReadState | null {
    const magic = this.#u32();
    this.#u32();
    const streams = this.#u32();
    if (streams < 1 || streams > MOST_STREAMS) return null;
    let found: Omit<ReadState, 'layout' | 'bytes' | 'tokens'> | null = null;
    let parts: Omit<StateLayout, 'magic' | 'streams'> | null = null;
    for (let stream = 0; stream < streams; stream += 1) {
      const cells = this.#u32();
      if (cells === 0) continue;
      if (cells !== this.#tokens || found !== null) return null;
      const cellByToken = this.#cells();
      if (cellByToken === undefined) return null;
      const read = this.#layers();
      if (read === null) return null;
      parts = read.layout;
      found = { cellByToken, planes: read.planes };
    }
    if (found === null || parts === null || this.#at !== this.#bytes.length) return null;
    return { ...found, layout: { magic, streams, ...parts }, bytes: this.#bytes, tokens: this.#tokens };
  }

  /** Null: in order of their positions; undefined: not the cells of one sequence from the start on. */
  #cells(): Int32Array | null | undefined {
    const cellByToken = new Int32Array(this.#tokens).fill(-1);
    let inOrder = true;
    for (let cell = 0; cell < this.#tokens; cell += 1) {
      const position = this.#u32() - this.#start;
      const owners = this.#u32();
      this.#u32();
      if (owners !== 1 || position < 0 || position >= this.#tokens || cellByToken[position] !== -1)
        return undefined;
      cellByToken[position] = cell;
      inOrder &&= position === cell;
    }
    return inOrder ? null : cellByToken;
  }

  #layers(): { layout: Omit<StateLayout, 'magic' | 'streams'>; planes: Plane[] } | null {
    const transposed = this.#u32();
    const layers = this.#u32();
    if (transposed > 1 || layers < 1 || layers > MOST_LAYERS) return null;
    const planes: Plane[] = [];
    const keys: [number, number][] = [];
    const values: number[][] = [];
    for (let layer = 0; layer < layers; layer += 1)
      keys.push([this.#u32(), this.#plane(planes, this.#u64())]);
    for (let layer = 0; layer < layers; layer += 1) {
      const type = this.#u32();
      if (transposed === 0) {
        values.push([type, this.#plane(planes, this.#u64())]);
        continue;
      }
      const element = this.#u32();
      const elements = this.#u32();
      if (elements > MOST_ELEMENTS) return null;
      for (let i = 0; i < elements; i += 1) this.#plane(planes, element);
      values.push([type, element, elements]);
    }
    return { layout: { transposed: transposed === 1, keys, values }, planes };
  }

  #plane(planes: Plane[], stride: number): number {
    planes.push({ at: this.#at, stride });
    this.#at += this.#tokens * stride;
    if (this.#at > this.#bytes.length) throw new RangeError('the state ends in the middle of a layer');
    return stride;
  }

  #u32(): number {
    const value = this.#view.getUint32(this.#at, true);
    this.#at += 4;
    return value;
  }

  #u64(): number {
    const value = this.#view.getBigUint64(this.#at, true);
    this.#at += 8;
    if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new RangeError('a row of a state is too long');
    return Number(value);
  }
}
