import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  bytesPerToken,
  readState,
  rowPieces,
  copyRows,
  StateBuilder,
  type StateLayout,
} from './state-layout.ts';

const layouts: Readonly<Record<string, StateLayout>> = {
  plain: {
    magic: 7,
    streams: 1,
    transposed: false,
    keys: [
      [1, 6],
      [8, 4],
    ],
    values: [
      [1, 6],
      [8, 2],
    ],
  },
  'with streams of its own': { magic: 7, streams: 4, transposed: false, keys: [[1, 8]], values: [[1, 8]] },
  'with transposed values': { magic: 7, streams: 2, transposed: true, keys: [[1, 6]], values: [[1, 2, 3]] },
};

/** A state of so many tokens whose every row names its token. */
function stateOf(layout: StateLayout, tokens: number, cells?: readonly number[]): Uint8Array {
  const builder = new StateBuilder(layout, { start: 0, tokens });
  const rows = new Uint8Array(tokens * bytesPerToken(layout));
  let at = 0;
  const strides = [
    ...layout.keys.map(([, row]) => row),
    ...(layout.transposed
      ? layout.values.flatMap(([, element = 0, count = 0]) => Array.from({ length: count }, () => element))
      : layout.values.map(([, row = 0]) => row)),
  ];
  for (const stride of strides) {
    for (let cell = 0; cell < tokens; cell += 1) {
      rows.fill((cells?.[cell] ?? cell) + 1, at, at + stride);
      at += stride;
    }
  }
  builder.add({ start: 0, held: tokens, used: tokens }, inOrder(rows));
  const state = builder.bytes;
  for (const [cell, position] of (cells ?? []).entries())
    Buffer.from(state.buffer).writeInt32LE(position, 16 + cell * 12);
  return state;
}

function inOrder(rows: Uint8Array): (bytes: number) => Uint8Array {
  let at = 0;
  return (bytes) => rows.subarray(at, (at += bytes));
}

describe.each(Object.entries(layouts))('the state of a sequence, %s', (_, layout) => {
  it('is cut into blocks and put together again, byte for byte, at any length', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 40 }),
        fc.integer({ min: 1, max: 9 }),
        fc.nat(),
        (tokens, block, wanted) => {
          const state = readState(stateOf(layout, tokens), tokens);
          if (state === null) throw new Error('it was not read');
          expect(state.layout).toEqual(layout);
          const length = 1 + (wanted % tokens);
          const builder = new StateBuilder(layout, { start: 0, tokens: length });
          for (let start = 0; start < length; start += block) {
            const end = Math.min(tokens, start + block);
            const used = Math.min(length, end) - start;
            builder.add({ start, held: end - start, used }, inOrder(copyRows(state, start, end)));
          }
          expect(Buffer.from(builder.bytes).equals(stateOf(layout, length))).toBe(true);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('is cut into parts that begin where others end, in memory of an earlier one', () => {
    const state = readState(stateOf(layout, 9), 9);
    if (state === null) throw new Error('it was not read');
    const rows = copyRows(state, 4, 9);
    const used = new StateBuilder(layout, { start: 0, tokens: 9 }).bytes.fill(255);
    const builder = new StateBuilder(layout, { start: 4, tokens: 3 }, used);
    builder.add({ start: 4, held: 5, used: 3 }, inOrder(rows));
    expect(builder.bytes.buffer).toBe(used.buffer);
    const alone = new StateBuilder(layout, { start: 0, tokens: 3 });
    alone.add({ start: 0, held: 5, used: 3 }, inOrder(rows));
    const part = Buffer.from(builder.bytes);
    for (let cell = 0; cell < 3; cell += 1) {
      expect(part.readInt32LE(16 + cell * 12)).toBe(4 + cell);
      part.writeInt32LE(cell, 16 + cell * 12);
    }
    expect(part.equals(alone.bytes)).toBe(true);
  });

  it('gives its rows as views where they lie in order', () => {
    for (const cells of [undefined, [1, 0, 2, 3, 4]]) {
      const state = readState(stateOf(layout, 5, cells), 5);
      if (state === null) throw new Error('it was not read');
      const pieces = [...rowPieces(state, 1, 4)];
      expect(Buffer.concat(pieces).equals(copyRows(state, 1, 4))).toBe(true);
      expect(pieces.every(({ buffer }) => buffer === state.bytes.buffer)).toBe(cells === undefined);
    }
  });

  it('is the same whatever the order of its cells', () => {
    const cells = [3, 0, 4, 1, 2];
    const state = readState(stateOf(layout, 5, cells), 5);
    if (state === null) throw new Error('it was not read');
    const builder = new StateBuilder(layout, { start: 0, tokens: 5 });
    builder.add({ start: 0, held: 5, used: 5 }, inOrder(copyRows(state, 0, 5)));
    expect(Buffer.from(builder.bytes).equals(stateOf(layout, 5))).toBe(true);
  });

  it('is not read when anything of its form is not as expected', () => {
    const whole = stateOf(layout, 6);
    expect(readState(whole, 5)).toBeNull();
    expect(readState(whole.subarray(0, -1), 6)).toBeNull();
    expect(readState(Buffer.concat([whole, Buffer.alloc(1)]), 6)).toBeNull();
    const shared = Buffer.from(whole);
    shared.writeUInt32LE(2, 20);
    expect(readState(shared, 6)).toBeNull();
    const twice = Buffer.from(whole);
    twice.writeInt32LE(0, 16 + 12);
    expect(readState(twice, 6)).toBeNull();
  });
});
