/** A generation on its sequence: which row it needs next, and its sampler. */
import type { JobEvent, SampledToken } from '../../contract/job-event.ts';
import type { DraftStream } from './planning/draft-length.ts';
import type { Row } from './evaluate.ts';
import type { Generation } from './generation.ts';
import type { NativeContext, NativeGrammar, NativeModel, NativeSampler } from '../addon/native.ts';
import { Logprobs } from './logprobs.ts';
import { Lookup } from './planning/lookup.ts';
import type { Placement } from './prompt-cache.ts';
import type { PromptWait } from './planning/row-plan.ts';
import { seedOf } from './sampler.ts';
import type { Vocabulary } from '../prompt/vocabulary.ts';

export interface Sampled {
  readonly token: number;
  readonly reported: SampledToken | null;
}

export class Running {
  readonly generation: Generation;
  readonly sequence: number;
  readonly #sampler: NativeSampler;
  readonly #logprobs: Logprobs | null;
  readonly #seed: number;
  readonly #placedMs = performance.now();
  #firstTokenMs: number | null = null;
  /** Tokens whose state is in the sequence. */
  #position: number;
  /** The sampled token that is not yet evaluated. */
  #next: number | null = null;
  #grammar: NativeGrammar | null = null;
  #configured = false;
  #passedOver = 0;
  readonly #drafts = { guessed: 0, accepted: 0 };
  /** Made when first asked for, because many answers end before that. */
  #lookup: Lookup | null = null;

  constructor(
    model: NativeModel,
    vocabulary: Vocabulary,
    generation: Generation,
    placement: Pick<Placement, 'id' | 'keep'>,
  ) {
    this.generation = generation;
    this.sequence = placement.id;
    this.#position = placement.keep;
    this.#sampler = model.newSampler();
    const { topLogprobs, sampling } = generation.job;
    this.#logprobs = topLogprobs === null ? null : new Logprobs(model, vocabulary, topLogprobs);
    this.#seed = seedOf(sampling.seed);
  }

  get jobId(): string {
    return this.generation.jobId;
  }

  get decoding(): boolean {
    return this.#next !== null;
  }

  get promptDone(): boolean {
    return this.#position >= this.generation.prompt.length;
  }

  get arrivedMs(): number {
    return this.generation.arrivedMs;
  }

  get said(): number {
    return this.generation.tokens.length;
  }

  /** Zero until there is one. */
  get firstTokenMs(): number {
    return this.#firstTokenMs ?? 0;
  }

  get prompt(): Uint32Array {
    return this.generation.prompt;
  }

  get position(): number {
    return this.#position;
  }

  /** Prompt tokens not yet evaluated. */
  get remaining(): number {
    return this.generation.prompt.length - this.#position;
  }

  get promptWait(): PromptWait {
    return {
      sequence: this.sequence,
      position: this.#position,
      remaining: this.remaining,
      passedOver: this.#passedOver,
    };
  }

  passOver(): void {
    this.#passedOver++;
  }

  /** What is guessed to follow, for a decision; `most` tokens at most. */
  draftStream(most: number): DraftStream {
    this.#lookup ??= this.#newLookup();
    const { knows, hitRate } = this.#lookup;
    return { guessable: knows ? this.#guessable(most) : 0, hitRate };
  }

  /** The next token, with so many rows behind it: guesses, and padding where there are none. */
  decodeRow(more = 0): Row {
    const guesses = this.#lookup?.guess(this.#guessable(more)) ?? [];
    return {
      sequence: this.sequence,
      position: this.#position,
      tokens: Uint32Array.of(this.#next ?? 0, ...guesses),
      logits: 1 + guesses.length,
      guessed: guesses.length,
      padding: more - guesses.length,
    };
  }

  promptRow(length: number, padding = 0): Row {
    this.#passedOver = 0;
    const end = this.#position + length;
    const { prompt, finishReason } = this.generation;
    return {
      sequence: this.sequence,
      position: this.#position,
      tokens: prompt.subarray(this.#position, end),
      // A job that wants no token at all (maxTokens 0) has finished before it began.
      logits: end === prompt.length && finishReason === null ? 1 : 0,
      padding,
    };
  }

  wasPrompt(row: Row): boolean {
    return row.position < this.generation.prompt.length;
  }

  evaluated(tokens: number): void {
    this.#position += tokens;
    this.#next = null;
  }

  async sample(native: NativeContext, batchRow: number): Promise<Sampled> {
    this.#configure();
    const sampled = await native.sample(batchRow, this.#sampler);
    if (sampled === null) throw new Error('no token satisfies the grammar');
    const token = this.generation.answer.constraint?.forcedToken() ?? sampled;
    const reported = (await this.#logprobs?.report(native, batchRow, token)) ?? null;
    return { token, reported };
  }

  accept(sampled: Sampled): JobEvent[] {
    this.#firstTokenMs ??= performance.now();
    this.#next = sampled.token;
    this.#lookup?.said(sampled.token);
    return this.generation.accept(sampled.token, sampled.reported);
  }

  sawDraft(guessed: number, accepted: number): void {
    this.#drafts.guessed += guessed;
    this.#drafts.accepted += accepted;
  }

  doneEvent(): JobEvent {
    const now = performance.now();
    const firstToken = this.#firstTokenMs ?? now;
    return {
      type: 'done',
      finishReason: this.generation.finishReason ?? 'stop',
      usage: this.generation.usage,
      timings: {
        prefillMs: firstToken - this.#placedMs,
        decodeMs: now - firstToken,
        ...(this.#drafts.guessed > 0 && { drafts: this.#drafts }),
      },
    };
  }

  dispose(): void {
    this.#sampler.dispose();
    this.#logprobs?.dispose();
  }

  /** The last token of an answer is never followed by anything. */
  #guessable(most: number): number {
    return Math.min(most, this.generation.tokensLeft - 1);
  }

  #newLookup(): Lookup {
    const lookup = new Lookup(this.generation.prompt);
    for (const token of this.generation.tokens) lookup.said(token);
    return lookup;
  }

  /** The chain keeps its random state and its penalties between tokens; only another grammar needs a new one. */
  #configure(): void {
    const grammar = this.generation.answer.constraint?.grammar() ?? null;
    if (this.#configured && grammar === this.#grammar) return;
    const { sampling } = this.generation.job;
    const { prompt, tokens, numCtx } = this.generation;
    const recentTokens = [...prompt, ...tokens];
    this.#sampler.configure({ sampling, seed: this.#seed, grammar, recentTokens, numCtx });
    this.#grammar = grammar;
    this.#configured = true;
  }
}
