/**
 * Log probabilities as the model itself gives them: over the whole vocabulary, before temperature, penalties and
 * truncation change them. Reading them does not disturb the sampler.
 */
import type { SampledToken, TokenLogprob } from '../../../contract/job-event.ts';
import type { NativeContext } from '../../native.ts';
import type { Vocabulary } from '../../prompt/vocabulary.ts';

export class Logprobs {
  readonly #top: number;
  readonly #vocabulary: Vocabulary;

  constructor(vocabulary: Vocabulary, top: number) {
    this.#top = top;
    this.#vocabulary = vocabulary;
  }

  report(context: NativeContext, batchRow: number, token: number): SampledToken {
    const { of, largest, totalWeight } = context.readLogits(batchRow, {
      tokens: [token],
      largest: this.#top,
    });
    const weight = Math.log(totalWeight());
    const logits = new Map(of.map(({ token: id, logit }) => [id, logit]));
    const entry = (id: number, logit: number): TokenLogprob => this.#entry(id, logit - largest - weight);
    return {
      chosen: entry(token, logits.get(token) ?? Number.NEGATIVE_INFINITY),
      top: [...logits]
        .sort(([, a], [, b]) => b - a)
        .slice(0, this.#top)
        .map(([id, logit]) => entry(id, logit)),
    };
  }

  #entry(token: number, logprob: number): TokenLogprob {
    const bytes = this.#vocabulary.bytesOf(token);
    const control = this.#vocabulary.controlTextOf(token);
    return {
      id: token,
      text: control ?? new TextDecoder().decode(bytes),
      bytes: [...(control === null ? bytes : Buffer.from(control, 'utf8'))],
      // JSON has no infinity; a token that cannot come gets the floor that other servers use.
      logprob: Math.max(logprob, -9999),
    };
  }
}
