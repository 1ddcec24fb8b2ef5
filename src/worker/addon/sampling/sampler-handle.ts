/** Samplers and grammars behind the page. */
import { argmax, type Candidates, largestOf, MOST_LARGEST } from './candidates.ts';
import type { Pointer, TokenDataArray } from '../library/layouts.ts';
import type { Library } from '../library/open.ts';
import type { NativeGrammar, NativeSampler, SamplerConfig } from '../../native.ts';
import { candidatesOf, type SamplerStep, samplerSteps } from './chain.ts';

/** What samplers of one model share. */
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
  #grammar: GrammarHandle | null = null;
  /** Of the largest logits, as many as the chain looks at; null: all. */
  #looksAt: number | null = null;

  constructor(room: SamplingRoom) {
    this.#room = room;
  }

  configure({ grammar, allCandidates, ...config }: SamplerConfig): void {
    const before = [...this.#steps];
    this.#steps = samplerSteps(config).map((step) => this.#open(step, before));
    for (const { sampler } of before) this.#room.library.llama_sampler_free(sampler);
    const looksAt = allCandidates ? null : candidatesOf(config.sampling);
    this.#looksAt = looksAt !== null && looksAt <= MOST_LARGEST ? looksAt : null;
    this.#grammar = grammar === null ? null : grammarHandle(grammar);
  }

  /** Null when the grammar allows no token. */
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

  /** A grammar over the whole vocabulary is dear, so it is asked only when it refuses what was chosen without it. */
  #chooseUnder(logits: Float32Array): number | null {
    const { library, candidates } = this.#room;
    const free = this.#chooseFrom(logits);
    const grammar = this.#grammar;
    if (grammar === null || free === null || candidates.isAllowed(library, grammar.sampler, free))
      return free;
    const array = candidates.all(logits);
    library.llama_sampler_apply(grammar.sampler, array);
    return this.#run(array);
  }

  #chooseFrom(logits: Float32Array): number | null {
    if (this.#looksAt === 1) return argmax(logits);
    const { candidates } = this.#room;
    return this.#run(
      this.#looksAt === null ? candidates.all(logits) : candidates.some(largestOf(logits, this.#looksAt)),
    );
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

  /** Takes an open sampler of the same key out of `before`, so that its random state goes on. */
  #open(step: SamplerStep, before: OpenStep[]): OpenStep {
    const known = before.findIndex(({ name, key }) => name === step.name && key === step.key && key !== '');
    const [same] = known < 0 ? [] : before.splice(known, 1);
    return same ?? { ...step, sampler: step.open(this.#room.library, this.#room.vocabularySize) };
  }
}

const grammars = new FinalizationRegistry<{ library: Library; sampler: Pointer }>(({ library, sampler }) => {
  library.llama_sampler_free(sampler);
});

export class GrammarHandle implements NativeGrammar {
  readonly gbnf: string;
  readonly sampler: Pointer;
  readonly #library: Library;
  readonly #isEnd: (token: number) => boolean;

  constructor({ library, vocab }: SamplingRoom, gbnf: string) {
    const sampler = library.llama_sampler_init_grammar(vocab, gbnf, 'root');
    if (sampler === null) throw new Error('llama.cpp refuses the grammar');
    this.gbnf = gbnf;
    this.sampler = sampler;
    this.#library = library;
    this.#isEnd = (token) => library.llama_vocab_is_eog(vocab, token);
    grammars.register(this, { library, sampler });
  }

  accept(token: number): void {
    if (!this.#isEnd(token)) this.#library.llama_sampler_accept(this.sampler, token);
  }
}

function grammarHandle(grammar: NativeGrammar): GrammarHandle {
  if (!(grammar instanceof GrammarHandle)) throw new Error('the grammar is not one of this library');
  return grammar;
}
