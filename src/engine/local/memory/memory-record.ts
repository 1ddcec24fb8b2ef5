/**
 * engine/local/memory owns what is known of the memory that models take: what the native library reckons, what loads
 * measured, what found no room; and what is free. It knows no process of a worker and decides nothing about loads.
 */
import { type Static, Type } from '#typebox';
import { ContextSize, HOST_DEVICE, MOST_MEASURED_SIZES } from '../../../contract/memory.ts';
import { minus, most, plus, scaled } from '../../device-memory.ts';
import type { Memory } from '../../ports.ts';

const Bytes = Type.Array(Type.Object({ device: Type.String(), bytes: Type.Number({ minimum: 0 }) }), {
  maxItems: 64,
});
/** What one size took. */
const Point = Type.Object({ ...ContextSize.properties, memory: Bytes });
type Point = Static<typeof Point>;

export const MemoryRecord = Type.Object({
  /** What changes the memory of the same weights. */
  options: Type.String(),
  /** By the native library, without loading anything; the process of the worker included. */
  reckoned: Type.Array(Point, { maxItems: MOST_MEASURED_SIZES }),
  /** Of the worker alone; null while nobody has asked. */
  processBytes: Type.Union([Type.Number({ minimum: 0 }), Type.Null()]),
  /** Of the last load. */
  loaded: Type.Union([
    Type.Object({ ...Point.properties, contextBytes: Type.Number({ minimum: 0 }) }),
    Type.Null(),
  ]),
  /** A size that found no room, and what it is taken to need since. */
  refused: Type.Union([Point, Type.Null()]),
});
export type MemoryRecord = Static<typeof MemoryRecord>;

/** Null where the record knows nothing of sizes. */
export function recordedNeed(record: MemoryRecord, size: ContextSize): Memory | null {
  const { reckoned, loaded, refused } = record;
  const known = reckoned.length > 0 ? corrected(reckoned, loaded, size) : loaded && grown(loaded, size);
  if (known === null) return null;
  const need = scaled(known, (bytes) => Math.max(0, Math.ceil(bytes)));
  const isRefused = refused !== null && size.cells >= refused.cells && size.sequences >= refused.sequences;
  return isRefused ? most(need, refused.memory) : need;
}

/** The last load is the truth of its own size; what was reckoned tells how others differ from it. */
function corrected(reckoned: readonly Point[], loaded: Point | null, size: ContextSize): Memory {
  const here = between(reckoned, size);
  return loaded === null ? here : plus(minus(here, between(reckoned, loaded)), loaded.memory);
}

/** Without any reckoning only the cells are known to grow. */
function grown(loaded: NonNullable<MemoryRecord['loaded']>, size: ContextSize): Memory {
  const bytes = loaded.contextBytes * (size.cells / loaded.cells - 1);
  return plus(loaded.memory, [{ device: HOST_DEVICE, bytes }]);
}

/** Straight lines between the sizes that were asked for, first along the cells and then along the sequences. */
function between(points: readonly Point[], { cells, sequences }: ContextSize): Memory {
  const counts = [...new Set(points.map((point) => point.sequences))];
  const rows = counts.map((at) => {
    const row = points.filter((point) => point.sequences === at);
    return {
      at,
      memory: along(
        cells,
        row.map((point) => ({ at: point.cells, memory: point.memory })),
      ),
    };
  });
  return along(sequences, rows);
}

interface Knot {
  readonly at: number;
  readonly memory: Memory;
}

/** Beyond the ends the first or last line goes on. */
function along(at: number, knots: readonly Knot[]): Memory {
  const sorted = [...knots].sort((a, b) => a.at - b.at);
  const found = sorted.findIndex((knot) => knot.at >= at);
  const right = found < 0 ? sorted.length - 1 : Math.max(1, found);
  const [from, to] = [sorted[right - 1] ?? sorted[0], sorted[right] ?? sorted[0]];
  if (from === undefined || to === undefined) return [];
  if (from.at === to.at) return to.memory;
  const share = (at - from.at) / (to.at - from.at);
  return plus(
    scaled(from.memory, (bytes) => bytes * (1 - share)),
    scaled(to.memory, (bytes) => bytes * share),
  );
}
