/**
 * Prefix reuse for models whose memory cannot be cut at any token: sliding windows forget older tokens, and recurrent
 * states have no past at all. A checkpoint keeps a copy of the small part that would be lost. The state can return to
 * a checkpoint, or to a place whose window is still complete.
 */
import type { NativeCheckpoint, NativeContext, PastState } from '../../native.ts';
import type { ChatModel } from '../../model.ts';

/** Per sequence: the ends of the last few prompts, which is where conversations continue. */
const KEPT_PER_SEQUENCE = 4;

export class Checkpoints {
  readonly #context: NativeContext;
  readonly #window: number;
  readonly #kept = new Map<number, NativeCheckpoint[]>();

  constructor(chat: ChatModel) {
    this.#context = chat.context;
    this.#window = lookback(chat.model.facts.past);
  }

  take(sequence: number, length: number): void {
    const kept = this.#kept.get(sequence) ?? [];
    if (kept.some((checkpoint) => checkpoint.lastPosition === length - 1)) return;
    const checkpoint = this.#context.takeCheckpoint(sequence);
    if (checkpoint.lastPosition !== length - 1) return checkpoint.dispose();
    kept.push(checkpoint);
    while (kept.length > KEPT_PER_SEQUENCE) kept.shift()?.dispose();
    this.#kept.set(sequence, kept);
  }

  reach(sequence: number, keep: number): number {
    if (keep === 0 || this.#windowCovers(sequence, keep)) return keep;
    const before = this.#kept.get(sequence)?.findLast(({ lastPosition }) => lastPosition < keep);
    return before === undefined ? 0 : before.lastPosition + 1;
  }

  cut(sequence: number, length: number, keep: number): number {
    this.#dropBeyond(sequence, keep);
    if (keep === 0) return 0;
    if (this.#windowCovers(sequence, keep) && this.#context.cutSequence(sequence, keep)) return keep;

    const checkpoint = this.#kept.get(sequence)?.at(-1);
    if (checkpoint === undefined || checkpoint.lastPosition >= length) return 0;
    const restored = this.#context.restoreCheckpoint(checkpoint, sequence);
    return restored ? checkpoint.lastPosition + 1 : 0;
  }

  #windowCovers(sequence: number, keep: number): boolean {
    return this.#context.firstPosition(sequence) <= Math.max(0, keep - this.#window);
  }

  #dropBeyond(sequence: number, keep: number): void {
    const kept = this.#kept.get(sequence) ?? [];
    const beyond = kept.filter(({ lastPosition }) => lastPosition >= keep);
    this.#kept.set(
      sequence,
      kept.filter((checkpoint) => !beyond.includes(checkpoint)),
    );
    for (const checkpoint of beyond) checkpoint.dispose();
  }
}

/** Tokens that the next one attends to: all of them if the state is a summary. */
function lookback(past: PastState): number {
  return past.holds === 'window' ? past.tokens : Number.POSITIVE_INFINITY;
}
