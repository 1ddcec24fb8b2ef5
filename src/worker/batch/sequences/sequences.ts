/**
 * worker/batch/sequences owns the sequences of the context: their KV state, the placement of prompts and what they
 * reuse, the eviction of cells. It knows no streams and nothing of steps; state outside a sequence belongs to tiers/.
 * This file turns the decisions of the pure files into native calls. `tokens` of a sequence are always exactly those
 * whose state it holds.
 */
import { errorMessage } from '../../../lib/errors/svc-error.ts';
import { withValues } from '../../cache/turned-values.ts';
import type { AttentionOptions, NativeContext } from '../../native.ts';
import type { ChatModel } from '../../model.ts';
import { type TokenText, withCachedTokens } from './cached-tokens.ts';
import { Checkpoints } from './checkpoints.ts';
import type { CostModel } from '../planning/cost-model.ts';
import { CELL_LIMITS, COPY_LIMITS } from '../planning/tuning.ts';
import { cellsOutsideRunning, evictedFor, costOfCells, idleAboveRunning, type Work } from './kv-cells.ts';
import type { TileRules } from '../../../contract/settings/exact-rules.ts';
import { mostReused, tileRules } from '../planning/tiles.ts';
import { type Placement, placePrompt, worthTokens } from './placement.ts';
import type { Candidate } from '../tiers/cache-facts.ts';
import type { SequenceContent, Tiers } from '../tiers/tiers.ts';
import type { StateTaker } from '../../cache/state-reader.ts';
import { borderUpTo, positionsIn } from '../../media/rows.ts';
import { commonPrefix } from '../stream/common-prefix.ts';

export interface KeyedPrompt {
  readonly prompt: Uint32Array;
  readonly owner: string;
  readonly mostReused?: number | undefined;
}

const NOTHING = new Uint8Array();
const NO_LOGITS = new Uint32Array();

interface SequenceState {
  readonly id: number;
  tokens: number[];
  owner: string;
  /** The state of an answer follows these tokens; it may not be reused. */
  hasMore: boolean;
  busy: boolean;
  lastUsed: number;
  filled: number;
}

export class Sequences {
  readonly #context: NativeContext;
  readonly #costs: CostModel;
  readonly #states: SequenceState[];
  readonly #checkpoints: Checkpoints | null;
  readonly #tiles: TileRules;
  readonly #keepsAnswers: boolean;
  readonly #copyMs: number;
  readonly #cells: number | null;
  readonly #tiers: Tiers | null;
  #fills = 0;

  constructor(chat: ChatModel, costs: CostModel, tiers: Tiers | null = null) {
    const { sequences, contextBytes } = chat.facts;
    this.#context = chat.context;
    this.#costs = costs;
    this.#tiers = tiers;
    this.#states = Array.from({ length: sequences }, (_, id) => ({
      id,
      tokens: [],
      owner: '',
      hasMore: false,
      busy: false,
      lastUsed: 0,
      filled: 0,
    }));
    this.#tiles = tileRules(chat);
    this.#keepsAnswers = chat.exact === undefined;
    this.#checkpoints = chat.prefixReuse === 'checkpoints' ? new Checkpoints(chat) : null;
    this.#cells = chat.sharedCells;
    // With shared cells, a copy only adds another owner of each.
    this.#copyMs = this.#cells === null ? contextBytes / sequences / COPY_LIMITS.bytesPerMs : 0;
  }

  get canCut(): boolean {
    return this.#checkpoints === null;
  }

  mostReused(promptTokens: number): number {
    return mostReused(promptTokens, this.#tiles);
  }

  reusable({ prompt, mostReused: most }: KeyedPrompt): Uint32Array {
    return most === undefined ? prompt : prompt.subarray(0, most + this.#tiles.leastRows);
  }

  kept(): { readonly slot: number; readonly keptTokens: number }[] {
    return this.#states.map(({ id, tokens }) => ({ slot: id, keptTokens: tokens.length }));
  }

  preview(keyed: KeyedPrompt): Placement | null {
    const { owner } = keyed;
    const prompt = this.reusable(keyed);
    const spared = this.#copyMs / this.#costs.promptMsPerToken;
    // State that cannot be cut cannot be shared by copying: the copy would contain the other conversation too.
    const copyWorthTokens =
      this.#checkpoints === null ? COPY_LIMITS.leastTokens + Math.ceil(spared) : Number.POSITIVE_INFINITY;
    const tiers = this.#tiers;
    const checkpoints = this.#checkpoints;
    return placePrompt(prompt, this.#states, {
      owner,
      copyWorthTokens,
      neighboursShare: this.#cells === null,
      mostReused: (promptTokens) => this.mostReused(promptTokens),
      ...(checkpoints !== null && { reach: ({ id }, tokens) => checkpoints.reach(id, tokens) }),
      ...(tiers !== null && { onlyHere: (sequence) => tiers.missing(sequence) }),
    });
  }

  withCachedTokens({ prompt, owner }: KeyedPrompt, text: TokenText): Uint32Array {
    if (!this.#keepsAnswers) return prompt;
    const own = this.#states.filter((state) => state.owner === owner);
    const kept = this.#tiers?.continuation(owner, prompt) ?? [];
    return withCachedTokens(prompt, [...own.map(({ tokens }) => tokens), kept], text);
  }

  hasRoomFor(newTokens: number): boolean {
    const isAlone = this.#states.every(({ busy }) => !busy);
    return this.#cells === null || isAlone || cellsOutsideRunning(this.#cells, this.#states) >= newTokens;
  }

  hasFree(cells: number): boolean {
    return this.#cells === null || evictedFor(cells, this.#cells, this.#states)?.length === 0;
  }

  get cellsInUse(): number {
    return this.#states.reduce((sum, { tokens }) => sum + tokens.length, 0);
  }

  /** Whether all state fits if no cells are shared: state that was copied within the context shares some. */
  get fitsApart(): boolean {
    return this.#cells === null || this.cellsInUse <= this.#cells;
  }

  evaluateEmpty(): boolean {
    const free = this.#states.find(({ busy, tokens }) => !busy && tokens.length === 0);
    if (free === undefined || !this.hasFree(1)) return false;
    this.#context.initBatch(1);
    this.#context.addToBatch(free.id, 0, Uint32Array.of(0), NO_LOGITS);
    this.#context.decodeBatch();
    this.#context.clearSequence(free.id);
    return true;
  }

  /**
   * Reopens the context with another attention and converts the state of all sequences. Returns the sequences that
   * lost their state, which are empty then. Changes nothing if the state of one cannot be converted.
   */
  attend(attention: AttentionOptions): number[] {
    // Running sequences first, so that they come before idle state, which can still be evicted.
    const held = this.#states
      .filter(({ tokens }) => tokens.length > 0)
      .sort((a, b) => Number(b.busy) - Number(a.busy) || a.filled - b.filled);
    const transposed = attention.flashAttention === false;
    const moved: Uint8Array[] = [];
    for (const { id, tokens } of held) {
      const state = this.#context.saveSequence(id);
      const stretch = { start: 0, tokens: tokens.length };
      const turned = state === null ? null : withValues(state, stretch, { transposed });
      if (turned === null) return [];
      moved.push(turned);
    }
    const isOpen = this.#reopened(attention);
    const lost = held.filter(
      ({ id }, at) => !isOpen || !this.#context.loadSequence(id, moved[at] ?? NOTHING),
    );
    for (const state of held) state.filled = this.#fills += 1;
    for (const { id } of lost) this.empty(id);
    return lost.map(({ id }) => id);
  }

  #reopened(attention: AttentionOptions): boolean {
    try {
      this.#context.reopen(attention);
      return true;
    } catch (error) {
      process.stderr.write(`Attention could not be computed another way: ${errorMessage(error)}\n`);
      return false;
    }
  }

  held(id: number): number {
    return this.#state(id).tokens.length;
  }

  /** Frees cells by evicting idle state; false if running answers hold too many. */
  makeRoom(cells: number): boolean {
    const tokenCost = (state: SequenceState): number =>
      worthTokens(state.tokens.length, this.#tiers?.missing(state)) / state.tokens.length;
    const evicted = this.#cells === null ? [] : evictedFor(cells, this.#cells, this.#states, tokenCost);
    for (const id of evicted ?? []) {
      this.#leave(this.#state(id));
      this.empty(id);
    }
    return evicted !== null;
  }

  /**
   * Call before the state of a job enters the sequence. Moves idle state that would slow the job to memory, if that
   * takes less time than it saves.
   */
  setAside(id: number, work: Work): void {
    if (this.#cells === null || this.#tiers === null || this.#checkpoints !== null) return;
    const othersDecode = this.#states.some(({ busy, id: other }) => busy && other !== id);
    for (const state of idleAboveRunning(this.#states, id)) {
      const cells = state.tokens.length;
      const gainMs = costOfCells(cells, work, this.#costs.msPerCell);
      if (this.#tiers.setAside(state, { gainMs, othersDecode })) this.empty(state.id);
    }
  }

  take(wanted: Placement, owner: string): Placement {
    const state = this.#state(wanted.id);
    if (wanted.copyFrom !== null || state.tokens.length > wanted.keep) this.#leave(state);
    state.busy = true;
    if (wanted.copyFrom !== null) this.#copy(state, this.#state(wanted.copyFrom));
    this.#cut(state, wanted.keep);
    state.owner = owner;
    return { ...wanted, keep: state.tokens.length };
  }

  reserve(id: number, owner: string): void {
    const state = this.#state(id);
    this.#leave(state);
    state.busy = true;
    this.empty(id);
    state.owner = owner;
  }

  takerFor(id: number, prompt: Uint32Array): StateTaker {
    const target = this.#state(id);
    return {
      inParts: this.#context.appendsState && this.#checkpoints === null,
      take: (state, tokens) => {
        const held = target.tokens.length;
        const others = this.#states.some(({ busy, id: other }) => busy && other !== id);
        // Other answers continue meanwhile, so the restore leaves them room like a new answer does.
        if (!this.makeRoom(tokens + (others ? CELL_LIMITS.answerTokens : 0))) return false;
        const read = this.#tiers?.kept.in(state, { start: held, tokens }) ?? state;
        const isThere =
          held === 0 ? this.#context.loadSequence(id, read) : this.#context.appendSequence(id, read);
        if (!isThere) return false;
        this.append(id, prompt.subarray(held, held + tokens));
        this.#checkpoints?.take(id, held + tokens);
        return true;
      },
    };
  }

  get idleContents(): SequenceContent[] {
    const idle = this.#states.filter(({ busy, tokens }) => !busy && tokens.length > 0);
    return idle.sort((a, b) => b.lastUsed - a.lastUsed);
  }

  holder({ prompt, owner }: KeyedPrompt): SequenceContent | null {
    const holding = this.idleContents.filter(
      (content) => content.owner === owner && commonPrefix(prompt, content.tokens) === prompt.length,
    );
    return holding.sort((a, b) => a.tokens.length - b.tokens.length)[0] ?? null;
  }

  nearest({ prompt, owner }: KeyedPrompt): Candidate | null {
    let best: Candidate | null = null;
    for (const state of this.#states) {
      if (state.owner !== owner || state.tokens.length === 0) continue;
      const common = commonPrefix(prompt, state.tokens);
      if (best === null || common > best.common) best = { common, tokens: state.tokens };
    }
    return best;
  }

  /** Call after a restore: leaves no partial image. Returns the number of remaining tokens. */
  backToBorder(id: number, prompt: Uint32Array): number {
    const state = this.#state(id);
    this.#cut(state, borderUpTo(prompt, state.tokens.length));
    return state.tokens.length;
  }

  giveUp(id: number): void {
    this.#state(id).busy = false;
    this.empty(id);
  }

  append(id: number, tokens: Uint32Array): void {
    const state = this.#state(id);
    if (state.tokens.length === 0 || state.filled === 0) state.filled = this.#fills += 1;
    for (const token of tokens) state.tokens.push(token);
  }

  appendAnswer(id: number, tokens: Uint32Array): void {
    if (this.#keepsAnswers) this.append(id, tokens);
    else this.#state(id).hasMore = true;
  }

  empty(id: number): void {
    this.#cut(this.#state(id), 0);
  }

  promptEvaluated(id: number): void {
    const state = this.#state(id);
    this.#checkpoints?.take(id, state.tokens.length);
    if (this.#checkpoints !== null) this.#tiers?.snapshot(state);
  }

  release(id: number, step: number): void {
    const state = this.#state(id);
    state.busy = false;
    state.lastUsed = step;
    if (state.hasMore) this.#cut(state, state.tokens.length);
  }

  forgetBeyond(id: number): void {
    const { tokens } = this.#state(id);
    this.#context.cutSequence(id, positionsIn(tokens, tokens.length));
  }

  #leave(state: SequenceState): void {
    if (state.tokens.length === 0) return;
    const others = this.#states.some(({ busy }) => busy);
    this.#tiers?.leave(state, others);
  }

  #copy(target: SequenceState, source: SequenceState): void {
    this.#context.copySequence(target.id, source.id);
    target.tokens = source.tokens.slice();
    target.hasMore = source.hasMore;
    // It shares the cells of the source until it grows.
    target.filled = 0;
  }

  #cut(state: SequenceState, keep: number): void {
    if (state.tokens.length === keep && !state.hasMore) return;
    const kept = this.#checkpoints
      ? this.#checkpoints.cut(state.id, state.tokens.length, keep)
      : this.#context.cutSequence(state.id, positionsIn(state.tokens, keep))
        ? keep
        : 0;
    if (kept === 0) this.#context.clearSequence(state.id);
    state.tokens.length = kept;
    state.hasMore = false;
  }

  #state(id: number): SequenceState {
    const state = this.#states[id];
    if (state === undefined) throw new Error(`there is no sequence ${id}`);
    return state;
  }
}
