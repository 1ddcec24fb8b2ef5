/**
 * The sequences of the context and what their KV state holds. Here the decisions of prompt-cache.ts become native
 * calls. `tokens` of a sequence are always those whose state is really there.
 */
import { Checkpoints } from './checkpoints.ts';
import type { Row } from './evaluate.ts';
import type { NativeContext } from '../addon/native.ts';
import { type TokenText, withKnownTokens } from './known-tokens.ts';
import type { ChatModel } from '../model.ts';
import type { PlaceCost } from './planning/place-to-take.ts';
import { type Placement, placePrompt } from './prompt-cache.ts';

interface SequenceState {
  readonly id: number;
  tokens: number[];
  busy: boolean;
  lastUsed: number;
}

/** What the batch loop knows of costs; whether gaps can be filled is a matter of the memory. */
export type LoopCost = Omit<PlaceCost, 'fills'>;

/** Copying state is memory traffic: this many bytes per millisecond are moved even on a slow machine. */
const COPY_BYTES_PER_MS = 8_000_000;
/** Below this, a copy is not worth its own overhead. */
const LEAST_COPY_TOKENS = 16;

export class Sequences {
  readonly #context: NativeContext;
  readonly #states: SequenceState[];
  readonly #checkpoints: Checkpoints | null;
  readonly #copyMs: number;
  readonly #numCtx: number;

  constructor(chat: ChatModel) {
    const { sequences, contextBytes, numCtx } = chat.facts;
    this.#context = chat.context;
    this.#numCtx = numCtx;
    this.#states = Array.from({ length: sequences }, (_, id) => ({
      id,
      tokens: [],
      busy: false,
      lastUsed: 0,
    }));
    this.#checkpoints = chat.prefixReuse === 'checkpoints' ? new Checkpoints(chat) : null;
    this.#copyMs = contextBytes / sequences / COPY_BYTES_PER_MS;
  }

  /** The placement that a prompt would get now; changes nothing. Null when all sequences are busy. */
  preview(prompt: Uint32Array, cost: LoopCost): Placement | null {
    const spared = this.#copyMs / cost.rowMs;
    const cuttable = this.#checkpoints === null;
    // State that cannot be cut cannot be shared by copying either: the copy would hold the other conversation too.
    const copyWorthTokens = cuttable ? LEAST_COPY_TOKENS + Math.ceil(spared) : Number.POSITIVE_INFINITY;
    return placePrompt(prompt, this.#states, { ...cost, copyWorthTokens, fills: cuttable });
  }

  /** The prompt in the tokens of the sequence that holds most of its text. */
  known(prompt: Uint32Array, text: TokenText): Uint32Array {
    return withKnownTokens(
      prompt,
      this.#states.map(({ tokens }) => tokens),
      text,
    );
  }

  /** Takes a free sequence and brings its state to the reused prefix, or to less where the memory cannot be cut there. */
  async take(wanted: Placement): Promise<Placement> {
    const state = this.#state(wanted.id);
    state.busy = true;
    if (wanted.copyFrom !== null) await this.#copy(state, this.#state(wanted.copyFrom));
    await this.#cut(state, wanted.keep);
    return { ...wanted, keep: state.tokens.length };
  }

  /** Frees a sequence that could not be brought to the state wanted; what it holds is not known. */
  async giveUp(id: number): Promise<void> {
    this.#state(id).busy = false;
    await this.empty(id);
  }

  evaluated(id: number, tokens: Uint32Array): void {
    const state = this.#state(id);
    for (const token of tokens) state.tokens.push(token);
  }

  /** For a sequence whose state is not known any more. */
  async empty(id: number): Promise<void> {
    await this.#cut(this.#state(id), 0);
  }

  /** The prompt is evaluated: where state cannot be cut at will, this is the place to come back to. */
  async promptEvaluated(id: number): Promise<void> {
    await this.#checkpoints?.take(id, this.#state(id).tokens.length);
  }

  release(id: number, step: number): void {
    const state = this.#state(id);
    state.busy = false;
    state.lastUsed = step;
  }

  /** Whether an idle sequence may lend its id to keep a run together: it needs room, and to forget at will. */
  canFill(id: number, rows: number): boolean {
    const state = this.#states[id];
    if (state === undefined || state.busy || this.#checkpoints !== null) return false;
    return state.tokens.length + rows < this.#numCtx;
  }

  fillerRow(id: number, rows: number): Row {
    return {
      sequence: id,
      position: this.#state(id).tokens.length,
      tokens: Uint32Array.of(0),
      logits: 0,
      padding: rows - 1,
    };
  }

  /** Cuts what was evaluated and is not wanted: fillers, and guesses that were wrong. */
  forgetBeyond(id: number): void {
    this.#context.cutSequence(id, this.#state(id).tokens.length);
  }

  async #copy(target: SequenceState, source: SequenceState): Promise<void> {
    await this.#context.copySequence(target.id, source.id);
    target.tokens = source.tokens.slice();
  }

  /** Leaves the first `keep` tokens, or fewer when the memory cannot be cut there. */
  async #cut(state: SequenceState, keep: number): Promise<void> {
    if (state.tokens.length === keep) return;
    const kept = this.#checkpoints
      ? await this.#checkpoints.cut(state.id, state.tokens.length, keep)
      : this.#context.cutSequence(state.id, keep)
        ? keep
        : 0;
    if (kept === 0) this.#context.clearSequence(state.id);
    state.tokens.length = kept;
  }

  #state(id: number): SequenceState {
    const state = this.#states[id];
    if (state === undefined) throw new Error(`there is no sequence ${id}`);
    return state;
  }
}
