/**
 * Log probabilities of the tokens of a prompt. The logits of a tile are reduced to a few numbers per token before the
 * next tile overwrites them, so memory does not grow with the prompt.
 */
import type { PromptTokensEvent } from '../../../contract/job-event.ts';
import type { ScoredPrompt } from '../../../contract/job.ts';
import { SCORED_ROWS } from '../../../contract/limits.ts';
import type { NativeContext } from '../../native.ts';
import type { Vocabulary } from '../../prompt/vocabulary.ts';
import { Logprobs } from './logprobs.ts';
import type { Row } from './row.ts';

export class PromptScores {
  readonly #prompt: Uint32Array;
  readonly #logprobs: Logprobs;
  readonly #leastRows: number;
  /** The next token to be reported; its logits are those of the row before it. */
  #next: number;

  constructor(vocabulary: Vocabulary, prompt: Uint32Array, asked: ScoredPrompt, leastRows: number) {
    this.#prompt = prompt;
    this.#logprobs = new Logprobs(vocabulary, asked.top);
    this.#leastRows = leastRows;
    this.#next = Math.min(asked.from, prompt.length);
  }

  static mostReused({ from }: ScoredPrompt): number {
    return Math.max(0, from - 1);
  }

  get isOver(): boolean {
    return this.#next >= this.#prompt.length;
  }

  callEnd(position: number, end: number): number {
    const first = this.#next - 1;
    if (this.isOver || end <= first) return end;
    if (first - position >= this.#leastRows && end - first >= this.#leastRows) return first;
    const tile = position + SCORED_ROWS;
    if (end <= tile) return end;
    return end - tile < this.#leastRows ? end - this.#leastRows : tile;
  }

  /** All rows of a chunk or none: the bits of a row may depend on whether rows next to it have logits. */
  countRows(position: number, tokens: number): number {
    return !this.isOver && position + tokens >= Math.max(1, this.#next) ? tokens : 0;
  }

  read(context: NativeContext, { position, tokens }: Row, logitRows: readonly number[]): PromptTokensEvent[] {
    const reported = [];
    if (this.#next === 0 && logitRows.length > 0) reported.push(this.#report(context, null));
    const first = position + tokens.length - logitRows.length;
    for (const [at, logitRow] of logitRows.entries())
      if (first + at + 1 === this.#next && !this.isOver) reported.push(this.#report(context, logitRow));
    return reported.length === 0 ? [] : [{ type: 'prompt_tokens', tokens: reported }];
  }

  #report(context: NativeContext, logitRow: number | null) {
    const token = this.#prompt[this.#next] ?? 0;
    this.#next += 1;
    return this.#logprobs.promptToken(token, context, logitRow);
  }
}
