/** One scale of time for all requests that are shown: of 40 ms and of 30 s, so each tick is ten times the last. Pure. */
import type { RequestView } from '../../src/wire/operation/requests.ts';

export interface TimeScale {
  /** The share of the width that a time has. */
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
  /** Of the whole request. */
  readonly share: number;
}

/** The stages of a request and the rest of its time, which none of them accounts for. */
export function partsOf(request: RequestView): StagePart[] {
  const known = STAGES.map(([name, field]) => ({ name, ms: request[field] ?? 0 }));
  const sum = known.reduce((total, { ms }) => total + ms, 0);
  const whole = Math.max(1e-3, sum, request.total_ms);
  return [...known, { name: 'other' as const, ms: whole - sum }].map((part) => ({
    ...part,
    share: part.ms / whole,
  }));
}
