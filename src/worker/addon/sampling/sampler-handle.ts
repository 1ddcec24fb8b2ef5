import { argmax, type Candidates, largestLogits, MOST_LARGEST, withTokens } from './candidates.ts';
import type { Pointer, TokenDataArray } from '../library/layouts.ts';
import type { Library } from '../library/open.ts';
import type { NativeGrammar, NativeSampler, SamplerConfig, TokenLogit } from '../../native.ts';
import { candidateTokens, type LookedAt, type SamplerStep, samplerSteps } from './chain.ts';
import { TokenGrammar } from './token-grammar.ts';

export interface SamplingRoom {
  readonly library: Library;
  readonly vocab: Pointer;
  readonly vocabularySize: number;
  readonly candidates: Candidates;
}

interface OpenStep extends SamplerStep {
  readonly sampler: Pointer;
}

export class SamplerHandle implements NativeSampler {
  readonly #room: SamplingRoom;
  #steps: readonly OpenStep[] = [];
  #grammar: TokenGrammar | null = null;
  #looksAt: LookedAt | null = null;

  constructor(room: SamplingRoom) {
    this.#room = room;
  }

  configure({ grammar, allCandidates, ...config }: SamplerConfig): void {
    const before = [...this.#steps];
    this.#steps = samplerSteps(config).map((step) => this.#open(step, before));
    for (const { sampler } of before) this.#room.library.llama_sampler_free(sampler);
    const looksAt = allCandidates ? null : candidateTokens(config.sampling, this.#room.vocabularySize);
    this.#looksAt = looksAt !== null && looksAt.largest <= MOST_LARGEST ? looksAt : null;
    this.#grammar = grammar === null ? null : tokenGrammar(grammar);
  }

  choose(logits: Float32Array): number | null {
    const token = this.#chooseUnder(logits);
    if (token !== null) this.#accept(token);
    return token;
  }

  dispose(): void {
    for (const { sampler } of this.#steps) this.#room.library.llama_sampler_free(sampler);
    this.#steps = [];
    this.#grammar = null;
  }

  /** A grammar over the whole vocabulary is expensive, so it runs only if it rejects the token chosen without it. */
  #chooseUnder(logits: Float32Array): number | null {
    const free = this.#chooseFrom(logits);
    const grammar = this.#grammar;
    if (grammar === null || free === null || grammar.isAllowed(free)) return free;
    const chosen = this.#chooseAmongLargest(logits, grammar);
    if (chosen !== null) return chosen;
    const allowed = grammar.allowed();
    return allowed.includes(1) ? this.#run(this.#room.candidates.allowed(logits, allowed)) : null;
  }

  /** The chain reads few of the allowed tokens; if these are among the largest, no others need a check. */
  #chooseAmongLargest(logits: Float32Array, grammar: TokenGrammar): number | null {
    if (this.#looksAt === null) return null;
    const { largest, biased } = this.#looksAt;
    const allowed = largestLogits(logits, MOST_LARGEST).filter(({ token }) => grammar.isAllowed(token));
    if (allowed.length < largest) return null;
    const allowedBiased = biased.filter((token) => grammar.isAllowed(token));
    return this.#run(this.#candidates(allowed.slice(0, largest), logits, allowedBiased));
  }

  #chooseFrom(logits: Float32Array): number | null {
    if (this.#looksAt === null) return this.#run(this.#room.candidates.all(logits));
    const { largest, biased } = this.#looksAt;
    if (largest === 1) return argmax(logits);
    return this.#run(this.#candidates(largestLogits(logits, largest), logits, biased));
  }

  #candidates(
    largest: readonly TokenLogit[],
    logits: Float32Array,
    biased: readonly number[],
  ): TokenDataArray {
    return this.#room.candidates.some(biased.length === 0 ? largest : withTokens(largest, logits, biased));
  }

  #run(array: TokenDataArray): number | null {
    for (const { sampler } of this.#steps) this.#room.library.llama_sampler_apply(sampler, array);
    return this.#room.candidates.selected(array);
  }

  #accept(token: number): void {
    const { library } = this.#room;
    for (const { name, sampler } of this.#steps)
      if (name === 'penalties') library.llama_sampler_accept(sampler, token);
    this.#grammar?.accept(token);
  }

  /** Takes an open sampler of the same key out of `before`, so that its random state continues. */
  #open(step: SamplerStep, before: OpenStep[]): OpenStep {
    const known = before.findIndex(({ name, key }) => name === step.name && key === step.key && key !== '');
    const [same] = known < 0 ? [] : before.splice(known, 1);
    return same ?? { ...step, sampler: step.open(this.#room.library, this.#room.vocabularySize) };
  }
}

function tokenGrammar(grammar: NativeGrammar): TokenGrammar {
  if (!(grammar instanceof TokenGrammar)) throw new Error('the grammar is not one of this library');
  return grammar;
}
