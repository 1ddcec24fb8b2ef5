/**
 * Log probabilities of the model itself: over the whole vocabulary, before temperature, penalties and truncation.
 * Reading them does not disturb the sampler.
 */
import type { PromptToken, SampledToken, TokenLogprob } from '../../../contract/job-event.ts';
import type { NativeContext } from '../../native.ts';
import type { Vocabulary } from '../../prompt/vocabulary.ts';

interface RankedToken extends SampledToken {
  rank(): number;
}

export class Logprobs {
  readonly #top: number;
  readonly #vocabulary: Vocabulary;

  constructor(vocabulary: Vocabulary, top: number) {
    this.#top = top;
    this.#vocabulary = vocabulary;
  }

  report(context: NativeContext, batchRow: number, token: number): SampledToken {
    const { chosen, top } = this.#read(context, batchRow, token);
    return { chosen, top };
  }

  promptToken(token: number, context: NativeContext, batchRow: number | null): PromptToken {
    if (batchRow === null) return { ...this.#named(token), score: null };
    const { chosen, top, rank } = this.#read(context, batchRow, token);
    return { ...this.#named(token), score: { logprob: chosen.logprob, rank: rank(), top: [...top] } };
  }

  #read(context: NativeContext, batchRow: number, token: number): RankedToken {
    const { of, largest, totalWeight, tokenRank } = context.readLogits(batchRow, {
      tokens: [token],
      largest: this.#top,
    });
    const weight = Math.log(totalWeight());
    const logits = new Map(of.map(({ token: id, logit }) => [id, logit]));
    const entry = (id: number, logit: number): TokenLogprob => ({
      ...this.#named(id),
      // JSON has no infinity; an impossible token gets the floor that other servers use.
      logprob: Math.max(logit - largest - weight, -9999),
    });
    return {
      chosen: entry(token, logits.get(token) ?? Number.NEGATIVE_INFINITY),
      top: [...logits]
        .sort(([, a], [, b]) => b - a)
        .slice(0, this.#top)
        .map(([id, logit]) => entry(id, logit)),
      rank: () => tokenRank(token),
    };
  }

  #named(token: number): { readonly id: number; readonly text: string; readonly bytes: number[] } {
    const bytes = this.#vocabulary.tokenBytes(token);
    const control = this.#vocabulary.controlText(token);
    return {
      id: token,
      text: control ?? new TextDecoder().decode(bytes),
      bytes: [...(control === null ? bytes : Buffer.from(control, 'utf8'))],
    };
  }
}
