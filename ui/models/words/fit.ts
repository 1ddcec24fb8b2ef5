/** Memory of a model against what is free, in words. Pure. */
import type { LoadPlan, Quants } from '../../../src/wire/operation/library.ts';
import { bytes, count, ofBytes } from '../../parts/figures.ts';

/** Tokens that the estimate before a download is made for. */
const USUAL_WINDOW = 8192;

export interface FitWords {
  readonly isGood: boolean;
  readonly words: string;
}

/** `free`: bytes by device, as far as they are known. */
export function planFit(plan: LoadPlan, free: Readonly<Record<string, number>>): FitWords {
  const window = plan.num_ctx === null ? '' : ` at ${count(plan.num_ctx)} tokens`;
  const needs = Object.entries(plan.memory).map(([device, size]) => {
    const place = device === 'CPU' ? '' : ` on ${device}`;
    const room = free[device];
    return `${room === undefined || room < size ? bytes(size) : ofBytes(size, room)}${place}`;
  });
  if (needs.length === 0) return { isGood: true, words: 'takes no memory of this machine' };
  const needed = `${needs.join(', ')}${window}`;
  return plan.evicts.length === 0
    ? { isGood: true, words: `fits: ${needed}` }
    : { isGood: true, words: `fits once ${plan.evicts.join(', ')} is unloaded: ${needed}` };
}

export function quantFit({ usual_bytes: usual, fits }: Quants['data'][number], free: number): FitWords {
  return fits
    ? { isGood: true, words: `fits: about ${ofBytes(usual, free)} at ${count(USUAL_WINDOW)} tokens` }
    : { isGood: false, words: `too large now: takes about ${bytes(usual)}, and ${bytes(free)} are free` };
}
