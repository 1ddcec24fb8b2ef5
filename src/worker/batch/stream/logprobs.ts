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

interface TokenName {
  readonly id: number;
  readonly text: string;
  readonly bytes: number[];
}

/** Chosen: tokens that repeat in a text are found again, and a long answer keeps no whole vocabulary. */
const MOST_NAMES = 4096;

export class Logprobs {
  readonly #top: number;
  readonly #vocabulary: Vocabulary;
  readonly #names = new Map<number, TokenName>();

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
    const entry = (id: number, logit: number): TokenLogprob => ({
      ...this.#named(id),
      // JSON has no infinity; an impossible token gets the floor that other servers use.
      logprob: Math.max(logit - largest - weight, -9999),
    });
    return {
      chosen: entry(token, of.find(({ token: id }) => id === token)?.logit ?? Number.NEGATIVE_INFINITY),
      top: of.slice(0, this.#top).map(({ token: id, logit }) => entry(id, logit)),
      rank: () => tokenRank(token),
    };
  }

  /** Texts repeat their tokens, and a message between processes holds an object once. */
  #named(token: number): TokenName {
    const known = this.#names.get(token);
    if (known !== undefined) return known;
    if (this.#names.size >= MOST_NAMES) this.#names.clear();
    const name = this.#name(token);
    this.#names.set(token, name);
    return name;
  }

  #name(token: number): TokenName {
    const bytes = this.#vocabulary.tokenBytes(token);
    const control = this.#vocabulary.controlText(token);
    return {
      id: token,
      text: control ?? new TextDecoder().decode(bytes),
      bytes: [...(control === null ? bytes : Buffer.from(control, 'utf8'))],
    };
  }
}
