/**
 * Trace of a recorded answer. Per step: the token, and the bits of the model's two largest logits, before penalties
 * and grammars change them.
 */
import { createHash } from 'node:crypto';
import type { NativeContext, TokenLogit } from '../../native.ts';

interface TopTwo {
  readonly first: TokenLogit;
  readonly second: TokenLogit;
}

const LARGEST_TWO = { tokens: [], largest: 2 };

export function topTwo(context: NativeContext, row: number): TopTwo {
  const [first, second] = context.readLogits(row, LARGEST_TWO).of;
  if (first === undefined) throw new Error('a step has no logits');
  return { first, second: second ?? { token: first.token, logit: Number.NEGATIVE_INFINITY } };
}

export function logitGap(context: NativeContext, row: number, token: number): number {
  const { of, largest } = context.readLogits(row, { tokens: [token], largest: 1 });
  if (of[0]?.token === token) return 0;
  return largest - (of.find((entry) => entry.token === token)?.logit ?? Number.NEGATIVE_INFINITY);
}

/** A hash chain over all steps; docs/evidence.md has the formula. */
export class LogitTrace {
  #digest: Buffer = Buffer.alloc(32);
  #minMargin: number | null = null;

  add(token: number, { first, second }: TopTwo): void {
    const step = Buffer.alloc(12);
    step.writeUInt32LE(token, 0);
    step.writeFloatLE(first.logit, 4);
    step.writeFloatLE(second.logit, 8);
    this.#digest = createHash('sha256').update(this.#digest).update(step).digest();
    const margin = first.logit - second.logit;
    // JSON has no infinity; a single candidate has no margin.
    if (Number.isFinite(margin)) this.#minMargin = Math.min(this.#minMargin ?? margin, margin);
  }

  get sha256(): string {
    return this.#digest.toString('hex');
  }

  get minMargin(): number | null {
    return this.#minMargin;
  }
}
