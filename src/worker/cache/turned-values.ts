/**
 * Transposes the values of a state: llama.cpp stores values by cell for flash attention, and by element without it.
 * The same state can then be loaded either way. Pure.
 */
import {
  frame,
  type Plane,
  readState,
  type ReadState,
  type StateLayout,
  type Stretch,
} from './state-layout.ts';

/** By ggml's number of a type: bytes of an element. Other types have blocks, which cannot be transposed. */
const ELEMENT_BYTES: ReadonlyMap<number, 2 | 4> = new Map([
  [0, 4], // f32
  [1, 2], // f16
  [30, 2], // bf16
]);

/** Rows and columns of a tile: both sides of it stay in the first cache of a core. */
const TILE = 32;

type Elements = Uint16Array | Uint32Array;

/** Returns the state unchanged if its values already have this layout; null if it cannot be read or transposed. */
export function withValues(
  bytes: Uint8Array,
  stretch: Stretch,
  { transposed }: Pick<StateLayout, 'transposed'>,
): Uint8Array | null {
  const state = readState(bytes, stretch.tokens, stretch.start);
  if (state === null) return null;
  if (state.layout.transposed === transposed) return bytes;
  const layout = turnedLayout(state.layout);
  return layout === null ? null : turned(state, layout, stretch);
}

function turnedLayout(layout: StateLayout): StateLayout | null {
  const transposed = !layout.transposed;
  const values: number[][] = [];
  for (const [type = -1, size = 0, elements = 0] of layout.values) {
    const element = ELEMENT_BYTES.get(type);
    if (element === undefined) return null;
    values.push(transposed ? [type, element, size / element] : [type, size * elements]);
  }
  return { ...layout, transposed, values };
}

function turned(from: ReadState, layout: StateLayout, stretch: Stretch): Uint8Array {
  const to = frame(layout, stretch);
  for (const layer of layout.keys.keys())
    copyRows(from, planeAt(from.planes, layer), { bytes: to.bytes, ...planeAt(to.planes, layer) });
  const [sources, targets] = [firstPlanes(from.layout), firstPlanes(layout)];
  for (const [layer, [type = -1, size = 0, count = 1]] of layout.values.entries()) {
    const element = ELEMENT_BYTES.get(type) ?? 4;
    const bytesOfLayer = from.tokens * size * count;
    const layerIn = (bytes: Uint8Array, { at }: Plane): Uint8Array => bytes.subarray(at, at + bytesOfLayer);
    const input = viewElements(layerIn(from.bytes, planeAt(from.planes, sources[layer])), element);
    const place = layerIn(to.bytes, planeAt(to.planes, targets[layer]));
    const output = viewElements(place, element);
    turnElements(input, output, from);
    if (output.buffer !== place.buffer) place.set(new Uint8Array(output.buffer));
  }
  return to.bytes;
}

function firstPlanes({ keys, values, transposed }: StateLayout): number[] {
  let next = keys.length;
  return values.map(([, , elements = 0]) => {
    const first = next;
    next += transposed ? elements : 1;
    return first;
  });
}

function turnElements(input: Elements, output: Elements, { tokens, layout, cellByToken }: ReadState): void {
  const width = input.length / tokens;
  if (layout.transposed) transpose(input, output, { rows: width, columns: tokens, columnOrder: cellByToken });
  else transpose(input, output, { rows: tokens, columns: width, rowOrder: cellByToken });
}

function copyRows(
  { bytes, tokens, cellByToken }: ReadState,
  { at, stride }: Plane,
  to: Plane & { readonly bytes: Uint8Array },
): void {
  if (cellByToken === null) return to.bytes.set(bytes.subarray(at, at + tokens * stride), to.at);
  for (const [position, cell] of cellByToken.entries()) {
    const row = at + cell * stride;
    to.bytes.set(bytes.subarray(row, row + stride), to.at + position * stride);
  }
}

interface Shape {
  readonly rows: number;
  readonly columns: number;
  readonly rowOrder?: Int32Array | null;
  readonly columnOrder?: Int32Array | null;
}

function transpose(input: Elements, output: Elements, shape: Shape): void {
  const { rows, columns, rowOrder = null, columnOrder = null } = shape;
  for (let firstRow = 0; firstRow < rows; firstRow += TILE) {
    const lastRow = Math.min(firstRow + TILE, rows);
    for (let firstColumn = 0; firstColumn < columns; firstColumn += TILE) {
      const lastColumn = Math.min(firstColumn + TILE, columns);
      for (let column = firstColumn; column < lastColumn; column += 1) {
        const from = columnOrder === null ? column : (columnOrder[column] ?? 0);
        for (let row = firstRow; row < lastRow; row += 1) {
          const source = rowOrder === null ? row : (rowOrder[row] ?? 0);
          output[column * rows + row] = input[source * columns + from] ?? 0;
        }
      }
    }
  }
}

/** A view, or a copy if the bytes are not aligned to an element. */
function viewElements(bytes: Uint8Array, element: 2 | 4): Elements {
  const { buffer, byteOffset, length } = byteAligned(bytes, element);
  return element === 2
    ? new Uint16Array(buffer, byteOffset, length / 2)
    : new Uint32Array(buffer, byteOffset, length / 4);
}

function byteAligned(bytes: Uint8Array, element: number): Uint8Array {
  return bytes.byteOffset % element === 0 ? bytes : Uint8Array.from(bytes);
}

function planeAt(planes: readonly Plane[], at: number | undefined): Plane {
  const plane = planes[at ?? -1];
  if (plane === undefined) throw new Error(`the state has no plane ${at}`);
  return plane;
}
