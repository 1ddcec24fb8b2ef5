/**
 * Log probabilities as the model itself gives them: over the whole vocabulary, before temperature, penalties and
 * truncation change them. A probe reads the same logits, so the sampler is not disturbed.
 */
import type { SampledToken, TokenLogprob } from '../../../contract/job-event.ts';
import type { NativeContext, NativeModel, NativeProbe } from '../../addon/native.ts';
import type { Vocabulary } from '../../prompt/vocabulary.ts';

export class Logprobs {
  readonly #top: number;
  readonly #vocabulary: Vocabulary;
  readonly #probe: NativeProbe;

  constructor(model: NativeModel, vocabulary: Vocabulary, top: number) {
    this.#top = top;
    this.#vocabulary = vocabulary;
    this.#probe = model.newProbe(null);
  }

  async report(context: NativeContext, batchRow: number, token: number): Promise<SampledToken> {
    // At least one of the largest is needed, because the weight is relative to the largest logit.
    const wanted = { tokens: [token], largest: Math.max(1, this.#top) };
    const { of, totalWeight } = await context.readLogits(batchRow, this.#probe, wanted);
    const largest = of[0]?.logit ?? 0;
    const logits = new Map(of.map(({ token: id, logit }) => [id, logit]));
    const entry = (id: number, logit: number): TokenLogprob =>
      this.#entry(id, logit - largest - Math.log(totalWeight));
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
