import type { CacheFacts, CacheMissReason } from '../../../contract/job-event.ts';

export interface Candidate {
  readonly common: number;
  readonly tokens: ArrayLike<number>;
}

export interface HeldBefore {
  readonly nearest: Candidate | null;
  readonly refusal: CacheMissReason;
  readonly wasHeld: boolean;
}

export interface Reuse extends HeldBefore {
  readonly prompt: Uint32Array;
  readonly slotTokens: number;
  readonly ramTokens: number;
  readonly diskTokens: number;
  readonly restoreMs: number;
}

const NEAR = 16;
/** Misses below this are not explained: a prompt's last token is always evaluated. */
const UNEXPLAINED = 8;

export function cacheFacts(reuse: Reuse): CacheFacts {
  const { slotTokens, ramTokens, diskTokens, restoreMs } = reuse;
  const reason = missReason(reuse);
  const facts = { slotTokens, ramTokens, diskTokens, restoreMs };
  return reason === null ? facts : { ...facts, miss: { reason, ...around(reuse) } };
}

function missReason({ prompt, slotTokens, ramTokens, diskTokens, ...reuse }: Reuse): CacheMissReason | null {
  const reused = slotTokens + ramTokens + diskTokens;
  const common = reuse.nearest?.common ?? 0;
  if (prompt.length - reused <= UNEXPLAINED) return null;
  if (reuse.wasHeld) return 'evicted';
  if (common - reused > UNEXPLAINED) return reuse.refusal;
  if (common === 0) return 'cold';
  // A prompt that only continues the held state has missed nothing.
  return (reuse.nearest?.tokens.length ?? 0) > common ? 'differs' : null;
}

function around({ prompt, nearest }: Reuse) {
  const common = nearest?.common ?? 0;
  const from = Math.max(0, common - NEAR);
  return {
    commonTokens: common,
    wanted: slice(prompt, from, common + NEAR),
    held: slice(nearest?.tokens ?? [], from, common + NEAR),
    before: common - from,
  };
}

function slice(tokens: ArrayLike<number>, from: number, to: number): number[] {
  return Array.from(
    { length: Math.max(0, Math.min(to, tokens.length) - from) },
    (_, i) => tokens[from + i] ?? 0,
  );
}
