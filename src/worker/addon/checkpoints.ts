/**
 * Prefix reuse for models whose memory cannot be cut at any token: sliding windows forget what lies behind them, and
 * recurrent states have no past at all. A checkpoint keeps a copy of the small part that would be lost; the state
 * can go back to a checkpoint, and inside a window that still covers what the next token looks at.
 */
import type { LlamaModel } from 'node-llama-cpp';
import { type NativeCheckpoint, type NativeContext, newCheckpoint } from './internals.ts';
import type { LoadedChat } from './load.ts';

/** Per sequence: the ends of the last few prompts, which are where conversations are taken up again. */
const KEPT_PER_SEQUENCE = 4;

export class Checkpoints {
  readonly #native: NativeContext;
  readonly #model: LlamaModel;
  readonly #window: number;
  readonly #kept = new Map<number, NativeCheckpoint[]>();

  constructor(chat: LoadedChat) {
    this.#native = chat.native;
    this.#model = chat.model;
    const { isRecurrent, isHybrid, swaSize } = chat.model.fileInsights;
    this.#window = isRecurrent || isHybrid ? Number.POSITIVE_INFINITY : (swaSize ?? 0);
  }

  async take(sequence: number, length: number): Promise<void> {
    const kept = this.#kept.get(sequence) ?? [];
    if (kept.some((checkpoint) => checkpoint.maxPos === length - 1)) return;
    const checkpoint = newCheckpoint(this.#model);
    await checkpoint.init(this.#native, sequence);
    if (checkpoint.maxPos !== length - 1) return checkpoint.dispose();
    kept.push(checkpoint);
    while (kept.length > KEPT_PER_SEQUENCE) kept.shift()?.dispose();
    this.#kept.set(sequence, kept);
  }

  /** Cuts the state to at most `keep` tokens; returns how many are left. */
  async cut(sequence: number, length: number, keep: number): Promise<number> {
    this.#dropBeyond(sequence, keep);
    if (keep === 0) return 0;
    if (this.#windowCovers(sequence, keep) && this.#native.removeTokenCellsFromSequence(sequence, keep, -1)) {
      return keep;
    }
    const checkpoint = this.#kept.get(sequence)?.at(-1);
    if (checkpoint === undefined || checkpoint.maxPos >= length) return 0;
    const restored = await this.#native.restoreCheckpoint(checkpoint, checkpoint.maxPos, sequence);
    return restored ? checkpoint.maxPos + 1 : 0;
  }

  /** Everything that the token after the cut looks at must still be there. */
  #windowCovers(sequence: number, keep: number): boolean {
    return this.#native.getSequenceKvCacheMinPosition(sequence) <= Math.max(0, keep - this.#window);
  }

  #dropBeyond(sequence: number, keep: number): void {
    const kept = this.#kept.get(sequence) ?? [];
    const beyond = kept.filter(({ maxPos }) => maxPos >= keep);
    this.#kept.set(
      sequence,
      kept.filter((checkpoint) => !beyond.includes(checkpoint)),
    );
    for (const checkpoint of beyond) checkpoint.dispose();
  }
}
