import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readState, StateBuilder, type StateLayout } from './state-layout.ts';
import { withValues } from './turned-values.ts';

/** Of f16 values, five to a token, and f32 ones, three to a token. */
const together: StateLayout = {
  magic: 7,
  streams: 1,
  transposed: false,
  keys: [
    [8, 4],
    [8, 4],
  ],
  values: [
    [1, 10],
    [0, 12],
  ],
};
const apart: StateLayout = {
  ...together,
  transposed: true,
  values: [
    [1, 2, 5],
    [0, 4, 3],
  ],
};

/** What element `element` of a token at a position is in a layer. */
const valueAt = (position: number, layer: number, element: number): number =>
  (position * 64 + layer * 8 + element) % 65_536;

/** The state of the tokens in these cells, by its position each. */
function stateOf(layout: StateLayout, positions: readonly number[]): Uint8Array {
  const start = Math.min(...positions);
  const tokens = positions.length;
  const builder = new StateBuilder(layout, { start, tokens });
  const rows = Buffer.concat([
    ...layout.keys.flatMap(() => positions.map((position) => Buffer.alloc(4, position))),
    ...layout.values.flatMap(([type], layer) => {
      const [count, write] = type === 1 ? [5, u16] : [3, u32];
      const at = (position: number, element: number) => write(valueAt(position, layer, element));
      const elements = Array.from({ length: count }, (_, element) => element);
      return layout.transposed
        ? elements.flatMap((element) => positions.map((position) => at(position, element)))
        : positions.flatMap((position) => elements.map((element) => at(position, element)));
    }),
  ]);
  let read = 0;
  builder.add({ start, held: tokens, used: tokens }, (bytes) => rows.subarray(read, (read += bytes)));
  for (const [cell, position] of positions.entries())
    Buffer.from(builder.bytes.buffer).writeInt32LE(position, 16 + cell * 12);
  return builder.bytes;
}

function u16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(value);
  return bytes;
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

const ordered = (start: number, tokens: number): number[] =>
  Array.from({ length: tokens }, (_, at) => start + at);

const stretches = fc.record({
  start: fc.integer({ min: 0, max: 300 }),
  tokens: fc.integer({ min: 1, max: 90 }),
});

describe('the values of a state', () => {
  it.each([
    ['together', together, apart],
    ['apart', apart, together],
  ])('that lie %s are turned, and the cells put in order', (_, from, to) => {
    fc.assert(
      fc.property(stretches, fc.integer({ min: 0, max: 89 }), (stretch, turn) => {
        const positions = ordered(stretch.start, stretch.tokens);
        const around = [
          ...positions.slice(turn % stretch.tokens),
          ...positions.slice(0, turn % stretch.tokens),
        ];
        const turned = withValues(stateOf(from, around), stretch, to);
        expect(Buffer.from(turned ?? [])).toEqual(Buffer.from(stateOf(to, positions)));
      }),
      { numRuns: 60 },
    );
  });

  it('are left as they are where they lie so already', () => {
    const state = stateOf(apart, ordered(0, 4));
    expect(withValues(state, { start: 0, tokens: 4 }, { transposed: true })).toBe(state);
  });

  it('are turned in memory that begins at an odd byte', () => {
    const state = stateOf(together, ordered(0, 9));
    const odd = new Uint8Array(state.length + 1).subarray(1);
    odd.set(state);
    const turned = withValues(odd, { start: 0, tokens: 9 }, { transposed: true });
    expect(Buffer.from(turned ?? [])).toEqual(Buffer.from(stateOf(apart, ordered(0, 9))));
  });

  it('are refused in blocks, of other tokens, and where bytes are missing', () => {
    const blocks = { ...together, values: [[8, 34]] as const, keys: [[8, 4]] as const };
    const builder = new StateBuilder(blocks, { start: 0, tokens: 2 });
    expect(readState(builder.bytes, 2)?.layout.values).toEqual([[8, 34]]);
    expect(withValues(builder.bytes, { start: 0, tokens: 2 }, { transposed: true })).toBeNull();
    const state = stateOf(together, ordered(0, 4));
    expect(withValues(state, { start: 0, tokens: 3 }, { transposed: true })).toBeNull();
    expect(withValues(state, { start: 1, tokens: 4 }, { transposed: true })).toBeNull();
    expect(withValues(state.subarray(0, -1), { start: 0, tokens: 4 }, { transposed: true })).toBeNull();
  });
});
