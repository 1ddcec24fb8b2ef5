/** One scale for requests of 40 ms and of 30 s: each tick is ten times the last. */
import type { RequestView } from '../../src/wire/operation/requests.ts';

export interface TimeScale {
  readonly shareOf: (ms: number) => number;
  readonly ticksMs: readonly number[];
}

const FIRST_MS = 10;

export function timeScale(requests: readonly Pick<RequestView, 'total_ms'>[]): TimeScale {
  const longest = Math.max(FIRST_MS * 10, ...requests.map(({ total_ms: ms }) => ms));
  const decades = Math.log10(longest / FIRST_MS) + 1;
  return {
    shareOf: (ms) => (ms <= 0 ? 0 : Math.max(0.02, Math.min(1, (Math.log10(ms / FIRST_MS) + 1) / decades))),
    ticksMs: Array.from({ length: Math.floor(decades) }, (_, at) => FIRST_MS * 10 ** at),
  };
}

export interface TimeLine {
  /** Shares of the width; null: before the line begins. */
  readonly place: (request: Timed) => { readonly left: number; readonly width: number } | null;
  /** Before the end, with their places. */
  readonly ticks: readonly { readonly left: number; readonly agoMs: number }[];
}
type Timed = Pick<RequestView, 'started_ms' | 'total_ms'>;

/** Chosen: a quarter of each length is a round time. */
const SPANS_MS = [2, 10, 60, 240, 1200, 3600, 14_400, 43_200, 172_800, 691_200].map(
  (seconds) => seconds * 1000,
);
/** The line shows at least this many of the latest, if there are. */
const FEW = 12;
const PARTS = 4;

export function timeLine(requests: readonly Timed[]): TimeLine {
  const endMs = ({ started_ms: started, total_ms: total }: Timed): number => started + total;
  const end = Math.max(0, ...requests.map(endMs));
  const first = Math.min(end, ...requests.slice(0, FEW).map(({ started_ms: started }) => started));
  const span = SPANS_MS.find((each) => each >= end - first) ?? end - first;
  const begin = end - span;
  return {
    place: (request) => {
      if (endMs(request) < begin) return null;
      const left = Math.max(0, (request.started_ms - begin) / span);
      return { left, width: (endMs(request) - begin) / span - left };
    },
    ticks: Array.from({ length: PARTS }, (_, at) => ({ left: at / PARTS, agoMs: span * (1 - at / PARTS) })),
  };
}

export const STAGES = [
  ['waited', 'queue_ms'],
  ['loaded', 'load_ms'],
  ['restored', 'restore_ms'],
  ['prefilled', 'prefill_ms'],
  ['generated', 'decode_ms'],
] as const;

export interface StagePart {
  readonly name: (typeof STAGES)[number][0] | 'other';
  readonly ms: number;
  readonly share: number;
}

export function partsOf(request: RequestView): StagePart[] {
  const known = STAGES.map(([name, field]) => ({ name, ms: request[field] ?? 0 }));
  const sum = known.reduce((total, { ms }) => total + ms, 0);
  const whole = Math.max(1e-3, sum, request.total_ms);
  return [...known, { name: 'other' as const, ms: whole - sum }].map((part) => ({
    ...part,
    share: part.ms / whole,
  }));
}
