/**
 * What a frozen run leaves behind of each step: the token, and the bits of the model's two largest logits. A probe reads
 * them as the model wrote them, so neither penalties nor grammars show in the trace, and the sampler is not disturbed.
 * One that keeps two candidates needs no sort of the vocabulary, which would cost more than the step itself.
 */
import { createHash } from 'node:crypto';
import type { NativeContext, NativeModel, NativeProbe, TokenLogit } from '../addon/native.ts';

export interface TopTwo {
  readonly first: TokenLogit;
  readonly second: TokenLogit;
}

const LARGEST_TWO = { tokens: [], largest: 2 };

export class LogitProbe {
  readonly #model: NativeModel;
  readonly #probe: NativeProbe;
  #whole: NativeProbe | undefined;

  constructor(model: NativeModel) {
    this.#model = model;
    this.#probe = model.newProbe(2);
  }

  async topTwo(context: NativeContext, row: number): Promise<TopTwo> {
    const { of } = await context.readLogits(row, this.#probe, LARGEST_TWO);
    const [first, second] = of;
    if (first === undefined) throw new Error('a step has no logits');
    return { first, second: second ?? { token: first.token, logit: Number.NEGATIVE_INFINITY } };
  }

  /** The logit of one token, whatever its place; reads the whole vocabulary. */
  async #logitOf(context: NativeContext, row: number, token: number): Promise<number> {
    this.#whole ??= this.#model.newProbe(null);
    const { of } = await context.readLogits(row, this.#whole, { tokens: [token], largest: 0 });
    return of.find((entry) => entry.token === token)?.logit ?? Number.NEGATIVE_INFINITY;
  }

  /** How far a token lies below the first choice; 0: it is the first choice. */
  async gapOf(context: NativeContext, row: number, token: number): Promise<number> {
    const { first, second } = await this.topTwo(context, row);
    if (first.token === token) return 0;
    const logit = second.token === token ? second.logit : await this.#logitOf(context, row, token);
    return first.logit - logit;
  }

  dispose(): void {
    this.#probe.dispose();
    this.#whole?.dispose();
  }
}

/** The chain over all steps; docs/evidence.md has the formula. */
export class FrozenTrace {
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
