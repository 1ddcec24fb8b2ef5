/**
 * Log probabilities as the model itself gives them: over the whole vocabulary, before temperature, penalties and
 * truncation change them. A second, neutral sampler reads the same logits, so the real one is not disturbed.
 */
import type { LlamaModel } from 'node-llama-cpp';
import type { SampledToken, TokenLogprob } from '../../contract/job-event.ts';
import { type NativeContext, type NativeSampler, newSampler } from './internals.ts';
import type { Vocabulary } from './vocabulary.ts';

export class Logprobs {
  readonly #top: number;
  readonly #vocabulary: Vocabulary;
  readonly #probe: NativeSampler;

  constructor(model: LlamaModel, vocabulary: Vocabulary, top: number) {
    this.#top = top;
    this.#vocabulary = vocabulary;
    this.#probe = newSampler(model);
    this.#probe.applyConfig({ temperature: 0, seed: 0 });
  }

  async report(native: NativeContext, batchRow: number, token: number): Promise<SampledToken> {
    // At least one of the largest is needed, because the weight is relative to the largest logit.
    const filter = [[token], false, false, false, Math.max(1, this.#top)] as const;
    const [, , , pairs, weight] = await native.sampleToken(batchRow, this.#probe, false, false, filter, true);
    const largest = pairs[1] ?? 0;
    const logits = new Map<number, number>();
    for (let i = 0; i + 1 < pairs.length; i += 2) logits.set(pairs[i] ?? 0, pairs[i + 1] ?? 0);
    const entry = (id: number, logit: number): TokenLogprob =>
      this.#entry(id, logit - largest - Math.log(weight));
    return {
      chosen: entry(token, logits.get(token) ?? Number.NEGATIVE_INFINITY),
      top: [...logits]
        .sort(([, a], [, b]) => b - a)
        .slice(0, this.#top)
        .map(([id, logit]) => entry(id, logit)),
    };
  }

  dispose(): void {
    this.#probe.dispose();
  }

  #entry(token: number, logprob: number): TokenLogprob {
    const bytes = this.#vocabulary.bytesOf(token);
    const control = this.#vocabulary.controlTextOf(token);
    return {
      text: control ?? new TextDecoder().decode(bytes),
      bytes: [...(control === null ? bytes : Buffer.from(control, 'utf8'))],
      // JSON has no infinity; a token that cannot come gets the floor that other servers use.
      logprob: Math.max(logprob, -9999),
    };
  }
}
