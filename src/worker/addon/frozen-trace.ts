/**
 * What a frozen run leaves behind of each step: the token, and the bits of the model's two largest logits.
 * The two come from a probe of its own that reads the logits as the model wrote them, so neither penalties nor
 * grammars show in the trace, and the real sampler is not disturbed. A probe that keeps two candidates needs no
 * sort of the vocabulary, which would cost more than the step itself.
 */
import { createHash } from 'node:crypto';
import type { LlamaModel } from 'node-llama-cpp';
import { type NativeContext, type NativeSampler, newSampler } from './internals.ts';

export interface TopTwo {
  readonly first: { readonly token: number; readonly logit: number };
  readonly second: { readonly token: number; readonly logit: number };
}

const LARGEST_TWO = [[], false, false, false, 2] as const;

export class LogitProbe {
  readonly #model: LlamaModel;
  readonly #probe: NativeSampler;
  #whole: NativeSampler | undefined;

  constructor(model: LlamaModel) {
    this.#model = model;
    this.#probe = newSampler(model);
    // At temperature 1 a division by 1 leaves the logits as they are; the drawn token is thrown away.
    this.#probe.applyConfig({ temperature: 1, seed: 0, topK: 2 });
  }

  async topTwo(native: NativeContext, row: number): Promise<TopTwo> {
    const [, , , pairs] = await native.sampleToken(row, this.#probe, false, false, LARGEST_TWO, true);
    const [token, logit, nextToken, nextLogit] = pairs;
    if (token === undefined || logit === undefined) throw new Error('a step has no logits');
    return {
      first: { token, logit },
      second: { token: nextToken ?? token, logit: nextLogit ?? Number.NEGATIVE_INFINITY },
    };
  }

  /** The logit of one token, whatever its place; reads the whole vocabulary. */
  async logitOf(native: NativeContext, row: number, token: number): Promise<number> {
    if (this.#whole === undefined) {
      this.#whole = newSampler(this.#model);
      this.#whole.applyConfig({ temperature: 0, seed: 0 });
    }
    const filter = [[token], false, false, false, 0] as const;
    const [, , , pairs] = await native.sampleToken(row, this.#whole, false, false, filter, true);
    const at = pairs.findIndex((value, index) => index % 2 === 0 && value === token);
    return at < 0 ? Number.NEGATIVE_INFINITY : (pairs[at + 1] ?? Number.NEGATIVE_INFINITY);
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
