/**
 * server/engine/local/memory owns the known memory needs of models (predicted by the native library, measured by loads,
 * refused for lack of room) and the free memory. It knows no worker process and decides nothing about loads.
 */
import { type Static, Type } from 'typebox';
import { ContextSize, HOST_DEVICE, MOST_MEASURED_SIZES } from '../../../../contract/memory.ts';
import { bytesOn, minus, most, plus, scaled } from '../../device-memory.ts';
import type { Memory } from '../../ports.ts';

const Bytes = Type.Array(Type.Object({ device: Type.String(), bytes: Type.Number({ minimum: 0 }) }), {
  maxItems: 64,
});
const Point = Type.Object({ ...ContextSize.properties, memory: Bytes });
type Point = Static<typeof Point>;

export const MemoryRecord = Type.Object({
  options: Type.String(),
  /** Predicted by the native library without a load; includes the worker process. */
  reckoned: Type.Array(Point, { maxItems: MOST_MEASURED_SIZES }),
  processBytes: Type.Union([Type.Number({ minimum: 0 }), Type.Null()]),
  loaded: Type.Union([
    Type.Object({ ...Point.properties, contextBytes: Type.Number({ minimum: 0 }) }),
    Type.Null(),
  ]),
  refused: Type.Union([Point, Type.Null()]),
});
export type MemoryRecord = Static<typeof MemoryRecord>;

/** `estimate`: need by the header, for a record without sizes. */
export function recordedNeed(record: MemoryRecord, size: ContextSize, estimate: Memory): Memory {
  const { refused } = record;
  const need = scaled(known(record, size) ?? estimate, (bytes) => Math.max(0, Math.ceil(bytes)));
  const isRefused = refused !== null && size.cells >= refused.cells && size.sequences >= refused.sequences;
  return isRefused ? most(need, refused.memory) : need;
}

function known({ reckoned: estimated, loaded }: MemoryRecord, size: ContextSize): Memory | null {
  if (estimated.length > 0) return corrected(estimated, loaded, size);
  return loaded === null ? null : grown(loaded, size);
}

/**
 * The last load is exact for its own size. If it took more than predicted, other sizes will too; if it took less,
 * that may be due to its size alone.
 */
function corrected(estimated: readonly Point[], loaded: Point | null, size: ContextSize): Memory {
  if (loaded !== null && isSame(loaded, size)) return loaded.memory;
  const here = between(estimated, size);
  if (loaded === null) return here;
  const missing = scaled(minus(loaded.memory, between(estimated, loaded)), (bytes) => Math.max(0, bytes));
  return plus(here, missing);
}

function grown(loaded: NonNullable<MemoryRecord['loaded']>, size: ContextSize): Memory {
  const bytes = loaded.contextBytes * (size.cells / loaded.cells - 1);
  return plus(loaded.memory, [{ device: HOST_DEVICE, bytes }]);
}

const isSame = (a: ContextSize, b: ContextSize): boolean =>
  a.cells === b.cells && a.sequences === b.sequences && a.unified === b.unified;

function between(all: readonly Point[], { cells, sequences, unified }: ContextSize): Memory {
  const points = all.filter((point) => point.unified === unified || point.sequences === 1);
  const counts = [...new Set(points.map((point) => point.sequences))];
  const devices = [...new Set(points.flatMap(({ memory }) => memory.map(({ device }) => device)))];
  return devices.map((device) => {
    const rows = counts.map((at) => {
      const row = points.filter((point) => point.sequences === at);
      const knots = row.map((point) => ({ at: point.cells, bytes: bytesOn(point.memory, device) }));
      return { at, bytes: estimateAt(cells, knots) };
    });
    return { device, bytes: estimateAt(sequences, rows) };
  });
}

interface Knot {
  readonly at: number;
  readonly bytes: number;
}

/**
 * Exact on a line, and where the curve bends down once between two knots with straight neighbours: a sliding window
 * stops growing there. A chord would cut off that corner and underestimate, so neighbouring segments are extended to
 * their intersection. Above the last knot its line continues; below the first one no decrease is assumed.
 */
export function estimateAt(at: number, knots: readonly Knot[]): number {
  const sorted = [...knots].sort((a, b) => a.at - b.at);
  if (sorted.length < 2) return sorted[0]?.bytes ?? 0;
  const found = sorted.findIndex((knot) => knot.at >= at);
  if (found === 0) return sorted[0]?.bytes ?? 0;
  const right = found < 0 ? sorted.length - 1 : found;
  const segment = (last: number): number => onLine(at, sorted[last - 1], sorted[last]);
  const chord = segment(right);
  if (found < 0) return chord;
  return Math.max(chord, Math.min(segment(right - 1), segment(right + 1), sorted[right]?.bytes ?? chord));
}

function onLine(at: number, from: Knot | undefined, to: Knot | undefined): number {
  if (from === undefined || to === undefined) return Number.POSITIVE_INFINITY;
  return from.bytes + ((at - from.at) / (to.at - from.at)) * (to.bytes - from.bytes);
}
