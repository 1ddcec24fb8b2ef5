/**
 * A smaller model with the same vocabulary that drafts for all streams of a context, in a context of its own with a
 * sequence for each. It evaluates a stream only on request, so it costs nothing while its drafts do not pay.
 */
import type { NativeContext } from '../../native.ts';
import { commonPrefix } from './common-prefix.ts';
import { MODEL_DRAFT_LIMITS } from '../planning/tuning.ts';
import type { DraftSource } from './draft-source.ts';

const SMOOTHING = 0.2;

export class DraftingModel {
  readonly #context: NativeContext;
  readonly #held = new Map<number, number[]>();
  #msPerToken: number | null = null;

  constructor(context: NativeContext) {
    this.#context = context;
  }

  get msPerToken(): number {
    return this.#msPerToken ?? 0;
  }

  /**
   * The most likely continuation, `count` tokens at most. Empty while the model catches up: it evaluates only a
   * slice, because the streams wait meanwhile.
   */
  continue(sequence: number, tokens: readonly number[], count: number): number[] {
    try {
      return this.#continue(sequence, tokens, count);
    } catch {
      // Its cells are used up, or a step failed: it can only start anew.
      this.forget(sequence);
      return [];
    }
  }

  forget(sequence: number): void {
    this.#held.delete(sequence);
    this.#context.clearSequence(sequence);
  }

  #continue(sequence: number, tokens: readonly number[], count: number): number[] {
    const held = this.#catchUp(sequence, tokens);
    const missing = tokens.slice(held.length, held.length + MODEL_DRAFT_LIMITS.catchUpTokens);
    const isBehind = held.length + missing.length < tokens.length;
    const startedMs = performance.now();
    let row = this.#evaluate(sequence, held, missing);
    if (isBehind) return [];
    const drafted: number[] = [];
    for (;;) {
      const token = this.#context.readLogits(row, { tokens: [], largest: 1 }).of[0]?.token;
      if (token === undefined) break;
      drafted.push(token);
      if (drafted.length >= count || held.length + 1 >= this.#context.numCtx) break;
      row = this.#evaluate(sequence, held, [token]);
    }
    if (missing.length <= count) this.#learn((performance.now() - startedMs) / drafted.length);
    return drafted;
  }

  #catchUp(sequence: number, tokens: readonly number[]): number[] {
    const held = this.#held.get(sequence) ?? [];
    const keep = Math.min(commonPrefix(held, tokens), tokens.length - 1);
    const isCut = keep === held.length || this.#context.cutSequence(sequence, keep);
    if (!isCut) this.#context.clearSequence(sequence);
    held.length = isCut ? keep : 0;
    this.#held.set(sequence, held);
    return held;
  }

  #evaluate(sequence: number, held: number[], tokens: readonly number[]): number {
    this.#context.initBatch(tokens.length);
    const last = Uint32Array.of(tokens.length - 1);
    const [row] = this.#context.addToBatch(sequence, held.length, Uint32Array.from(tokens), last);
    this.#context.decodeBatch();
    for (const token of tokens) held.push(token);
    return row ?? -1;
  }

  #learn(ms: number): void {
    this.#msPerToken =
      this.#msPerToken === null ? ms : this.#msPerToken + SMOOTHING * (ms - this.#msPerToken);
  }
}

export class ModelDrafts implements DraftSource {
  readonly #model: DraftingModel;
  readonly #sequence: number;
  readonly #tokens: number[];
  #last: { readonly from: number; readonly tokens: readonly number[] } | null = null;
  #hitRate: number = MODEL_DRAFT_LIMITS.firstHitRate;

  constructor(
    model: DraftingModel,
    { sequence, prompt }: { readonly sequence: number; readonly prompt: Uint32Array },
  ) {
    this.#model = model;
    this.#sequence = sequence;
    this.#tokens = [...prompt];
  }

  get hasDraft(): boolean {
    return true;
  }

  get hitRate(): number {
    return this.#hitRate;
  }

  get msPerToken(): number {
    return this.#model.msPerToken;
  }

  push(token: number): void {
    const expected = this.#last?.tokens[this.#tokens.length - this.#last.from];
    if (expected !== undefined) {
      this.#hitRate += MODEL_DRAFT_LIMITS.hitRateWeight * ((expected === token ? 1 : 0) - this.#hitRate);
      if (expected !== token) this.#last = null;
    } else {
      // A model with bad drafts is tried again after some time.
      this.#hitRate += MODEL_DRAFT_LIMITS.forgetting * (MODEL_DRAFT_LIMITS.firstHitRate - this.#hitRate);
    }
    this.#tokens.push(token);
  }

  draft(count: number): number[] {
    const tokens = this.#model.continue(this.#sequence, this.#tokens, count);
    this.#last = { from: this.#tokens.length, tokens };
    return tokens;
  }
}
