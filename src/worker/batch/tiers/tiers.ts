/**
 * worker/batch/tiers owns the movement of state between the sequences and the prompt cache: it keeps evicted state,
 * restores state for prompts, and saves idle state. It compares the cost of each with that of evaluating again. It
 * does not know which sequence a prompt gets, and nothing of steps.
 */
import { isDeepStrictEqual } from 'node:util';
import { type CacheTiers, TIER_REPORT_MS } from '../../../contract/slots.ts';
import type { CacheMissReason } from '../../../contract/job-event.ts';
import type { NativeContext } from '../../native.ts';
import { errorMessage } from '../../../lib/errors/svc-error.ts';
import { type Found, PromptStore } from '../../cache/prompt-store.ts';
import type { KeptState } from '../../cache/kept-state.ts';
import type { ReadBack, StateTaker } from '../../cache/state-reader.ts';
import { tokensUpTo } from '../../cache/prefixes/prefix-tree.ts';
import type { PinnedPrefix } from '../../../lib/prompt-cache/pin.ts';
import type { PlannerPart, PromptCacheSpec } from '../../../contract/load.ts';
import { borderUpTo } from '../../media/rows.ts';
import type { Candidate } from './cache-facts.ts';
import { IdleTurns } from './idle-turns.ts';

export interface SequenceContent {
  readonly id: number;
  readonly owner: string;
  readonly tokens: readonly number[];
}

export interface Restorable {
  readonly owner: string;
  readonly prompt: Uint32Array;
  readonly found: Found;
  readonly length: number;
}

export interface Restored {
  readonly ramTokens: number;
  readonly diskTokens: number;
  readonly refusal: CacheMissReason | null;
  readonly restoreMs: number;
}

interface TiersOptions {
  readonly context: NativeContext;
  readonly spec: PromptCacheSpec;
  readonly cuttable: boolean;
  readonly kept: KeptState;
  readonly streams: number;
  readonly without?: readonly PlannerPart[];
  msPerToken(): number;
  mostReused?(promptTokens: number): number;
  tell(tiers: CacheTiers): void;
}

const LIMITS = {
  /** Chosen: fewer are evaluated again in no time. */
  leastTokens: 32,
  /** Chosen: most time that one copy of a state may add to the gap between two tokens of other answers. */
  gapMs: 250,
  /** Chosen: copy rate out of the KV cache until measured, fresh memory included. */
  copyBytesPerMs: 1_500_000,
  /**
   * Chosen: weight of the last measured rate; a host that maps memory lazily makes the first copies ten times slower.
   */
  copyWeight: 0.4,
  /**
   * Chosen: each skipped copy raises a low measured rate by this share of the difference from the default, so that
   * copies are tried again.
   */
  forgetShare: 0.05,
  /** Chosen: idle state that costs a job less than this stays in its sequence, where reusing it needs no copy. */
  leastGainMs: 50,
  /** Smaller copies measure the cost of a call, not a rate. */
  leastRated: 1024 * 1024,
  /** Chosen: restoring must take less than this share of evaluating. */
  worthShare: 0.8,
  /** Chosen: share of the evaluation of new tokens that a snapshot of their state may take. */
  snapshotShare: 0.05,
  /** Chosen: share of free memory that a copy which only goes to the disk may take. */
  memoryShare: 0.5,
} as const;

export class Tiers {
  readonly quiet = new IdleTurns();
  readonly kept: KeptState;
  readonly #options: TiersOptions;
  readonly #store: PromptStore;
  readonly #report: TierReport;
  #slotEvictions = 0;
  #restores = { restores: 0, restoreMs: 0 };
  #isCompacting = false;
  #toCompact: 'all' | 'waste' | null = null;
  #copyBytesPerMs: number = LIMITS.copyBytesPerMs;
  #lastSave = Promise.resolve();

  constructor(options: TiersOptions) {
    this.#options = options;
    this.kept = options.kept;
    this.#store = new PromptStore({
      spec: options.spec,
      streams: options.streams,
      msPerToken: () => options.msPerToken(),
      log,
    });
    this.#report = new TierReport(
      () => ({ slotEvictions: this.#slotEvictions, ...this.#store.tiers, ...this.#restores }),
      (tiers) => options.tell(tiers),
    );
  }

  /**
   * Keeps the state of a prefix. `content`: an idle sequence that holds it, or null. Returns its kept bytes; null if
   * pins would hold more than their share.
   */
  async pin(pin: PinnedPrefix, tokens: Uint32Array, content: SequenceContent | null): Promise<number | null> {
    const { cuttable, spec } = this.#options;
    const isMissing = this.#store.missing(pin.owner, tokens) > 0;
    const isUsable = content !== null && (cuttable || content.tokens.length === tokens.length);
    if (isMissing && isUsable && this.#options.context.sequenceBytes(content.id) <= spec.ramBytes)
      this.#copy(content, Uint32Array.from(content.tokens));
    const bytes = await this.#store.pin(pin, tokens);
    this.#report.changed();
    return bytes;
  }

  async unpin(pin: PinnedPrefix): Promise<void> {
    await this.#store.unpin(pin);
    this.#report.changed();
  }

  get pinLimitBytes(): number {
    return this.#store.pinLimitBytes;
  }

  async open(): Promise<void> {
    await this.#store.open();
    this.#report.changed();
  }

  beyond(owner: string, prompt: Uint32Array, keep: number): Restorable | 'not_worth' | null {
    const most = this.#options.mostReused?.(prompt.length) ?? prompt.length - 1;
    let found = this.#store.find(owner, prompt.subarray(0, most));
    // The held state may end inside an image.
    const border = borderUpTo(prompt, found.match.length);
    if (border < found.match.length) found = this.#store.find(owner, prompt.subarray(0, border));
    const { length } = found.match;
    if (length - keep < LIMITS.leastTokens) return null;
    const evaluatedMs = (length - keep) * this.#options.msPerToken();
    const isWorth = found.expectedMs <= LIMITS.worthShare * evaluatedMs;
    return isWorth ? { owner, prompt, found, length } : 'not_worth';
  }

  missing({ owner, tokens }: Omit<SequenceContent, 'id'>): number {
    return this.#store.missing(owner, Uint32Array.from(tokens));
  }

  nearest(owner: string, prompt: Uint32Array): Candidate | null {
    const { common, nearest } = this.#store.find(owner, prompt).match;
    return nearest === null ? null : { common, tokens: tokensUpTo(nearest) };
  }

  /** The held state with the longest common beginning, up to the end of its latest branch. */
  continuation(owner: string, prompt: Uint32Array): Uint32Array | null {
    let end = this.#store.find(owner, prompt).match.nearest;
    if (end === null) return null;
    for (let next = latest(end.children); next !== undefined; next = latest(end.children)) end = next;
    return tokensUpTo(end);
  }

  wasHeld(owner: string, prompt: Uint32Array, beyond: number): boolean {
    return this.#store.wasHeld(owner, prompt, beyond + LIMITS.leastTokens);
  }

  /** Removes parts that cannot be used. If nothing was taken, the state before them is tried. */
  async restore(wanted: Restorable, taker: StateTaker): Promise<Restored> {
    const startedMs = performance.now();
    let refusal: CacheMissReason | null = null;
    for (let restorable: Restorable | null = wanted; restorable !== null; ) {
      const read = await this.#store.read(restorable.found, () => this.quiet.between(), taker);
      refusal = read.refusal === 'evicted' ? (refusal ?? 'evicted') : (read.refusal ?? refusal);
      const restoreMs = performance.now() - startedMs;
      if (read.ramTokens + read.diskTokens > 0) return this.#restored(read, refusal, restoreMs);
      if (read.refusal === 'not_restored') break;
      const rest = this.beyond(wanted.owner, wanted.prompt, 0);
      restorable = rest === 'not_worth' ? null : rest;
    }
    return { ramTokens: 0, diskTokens: 0, refusal, restoreMs: performance.now() - startedMs };
  }

  #restored(read: ReadBack, refusal: CacheMissReason | null, restoreMs: number): Restored {
    const { ramTokens, diskTokens } = read;
    this.#store.restored(read);
    this.#restores = {
      restores: this.#restores.restores + 1,
      restoreMs: Math.round(this.#restores.restoreMs + restoreMs),
    };
    this.#report.changed();
    return { ramTokens, diskTokens, refusal, restoreMs };
  }

  /** Call before a sequence loses this content. `othersDecode`: a client waits for tokens meanwhile. */
  leave(content: SequenceContent, othersDecode: boolean): void {
    const { owner } = content;
    this.#slotEvictions += 1;
    this.#report.changed();
    const tokens = Uint32Array.from(content.tokens);
    const missing = this.#store.missing(owner, tokens);
    const isPinned = this.#store.missesPinned(owner, tokens, this.#options.cuttable);
    if (missing < LIMITS.leastTokens && !isPinned) return;
    const { ramBytes } = this.#options.spec;
    const bytes = ramBytes === 0 ? 0 : this.#options.context.sequenceBytes(content.id);
    const copyMs = bytes / this.#copyBytesPerMs;
    // A restore is a second copy.
    const isWorth = isPinned || 2 * copyMs <= missing * this.#options.msPerToken();
    const isBounded = isPinned || !othersDecode || copyMs <= LIMITS.gapMs;
    if (isWorth && !isBounded) this.#notCopied();
    if (bytes === 0 || bytes > ramBytes || !isWorth || !isBounded || !this.#copy(content, tokens))
      return this.#store.lost(owner, tokens);
    void this.#compact(false);
  }

  /**
   * Copies idle state into memory unless a tier holds it already. Returns whether its sequence may drop it for that
   * gain.
   */
  setAside(
    content: SequenceContent,
    { gainMs, othersDecode }: { readonly gainMs: number; readonly othersDecode: boolean },
  ): boolean {
    if (gainMs < LIMITS.leastGainMs || !this.#has('set-aside')) return false;
    const { ramBytes } = this.#options.spec;
    const { owner } = content;
    const tokens = Uint32Array.from(content.tokens);
    const missing = this.#store.missing(owner, tokens);
    const bytes = this.#options.context.sequenceBytes(content.id);
    const copies = missing < LIMITS.leastTokens ? 1 : 2;
    const copyMs = bytes / this.#copyBytesPerMs;
    if (copies * copyMs > gainMs) return false;
    if (missing < LIMITS.leastTokens) return true;
    if (bytes > ramBytes || (othersDecode && copyMs > LIMITS.gapMs) || !this.#copy(content, tokens))
      return false;
    void this.#compact(false);
    return this.#store.missing(owner, tokens) < LIMITS.leastTokens;
  }

  /** For memory that cannot be cut back: state at a place where other prompts may begin. */
  snapshot(content: SequenceContent): void {
    if (this.#options.cuttable || this.#options.spec.ramBytes === 0) return;
    const tokens = Uint32Array.from(content.tokens);
    // In a long conversation, each turn would copy all of it again for the few new tokens.
    const missing = this.#store.missing(content.owner, tokens);
    if (missing < LIMITS.leastTokens) return;
    const copyMs = this.#options.context.sequenceBytes(content.id) / this.#copyBytesPerMs;
    if (this.#store.missesPinned(content.owner, tokens, false)) this.#copy(content, tokens);
    else if (copyMs <= LIMITS.snapshotShare * missing * this.#options.msPerToken())
      this.#copy(content, tokens);
    else this.#notCopied();
  }

  /**
   * Only a copy measures the rate, so a rate that was low once must not forbid copies for good. Copies that do not
   * pay are excluded: they are tried now and then anyway.
   */
  #notCopied(): void {
    this.#copyBytesPerMs += LIMITS.forgetShare * Math.max(0, LIMITS.copyBytesPerMs - this.#copyBytesPerMs);
  }

  /**
   * Saves idle sequences and memory to the disk, in slices between steps. One save runs at a time: a second one
   * continues after the first.
   */
  save(idle: () => readonly SequenceContent[], mayCopy: () => boolean): Promise<void> {
    this.#lastSave = this.#lastSave.then(() => this.#saveNow(idle, mayCopy));
    return this.#lastSave;
  }

  async #saveNow(idle: () => readonly SequenceContent[], mayCopy: () => boolean): Promise<void> {
    if (!this.#store.keepsFiles) return void this.#compact(true);
    const pause = (): Promise<void> => {
      this.#report.changed();
      return this.quiet.turn();
    };
    await this.#store.saving(async () => {
      for (const { id } of idle()) {
        await pause();
        const content = idle().find((each) => each.id === id);
        if (content === undefined || !mayCopy() || !this.#copyUnsaved(content)) continue;
        // The sequence still holds it, so it need not be in memory twice.
        await this.#store.save(pause, (node) => !this.#store.wasInRam(node));
      }
      await this.#store.save(pause, () => false);
    });
    void this.#compact(true);
    this.#report.changed();
  }

  #copyUnsaved(content: SequenceContent): boolean {
    const tokens = Uint32Array.from(content.tokens);
    if (this.#store.missing(content.owner, tokens) < LIMITS.leastTokens) return false;
    const bytes = this.#options.context.sequenceBytes(content.id);
    return bytes <= process.availableMemory() * LIMITS.memoryShare && this.#copy(content, tokens);
  }

  #has(part: PlannerPart): boolean {
    return this.#options.without?.includes(part) !== true;
  }

  #copy({ id, owner }: SequenceContent, tokens: Uint32Array): boolean {
    const begunMs = performance.now();
    const saved = this.#options.context.saveSequence(id);
    if (saved === null) return false;
    const state = this.kept.out(saved, tokens.length);
    const rate = state.length / Math.max(0.1, performance.now() - begunMs);
    if (state.length >= LIMITS.leastRated)
      this.#copyBytesPerMs += LIMITS.copyWeight * (rate - this.#copyBytesPerMs);
    this.#store.keep(owner, tokens, state, this.#options.cuttable && this.#has('cache-blocks'));
    this.#report.changed();
    return true;
  }

  /** `all`: also rows that are no waste, when nothing else runs. State that cannot be copied stays in place. */
  async #compact(all: boolean): Promise<void> {
    if (this.#toCompact !== 'all') this.#toCompact = all ? 'all' : 'waste';
    if (this.#isCompacting) return;
    this.#isCompacting = true;
    try {
      while (this.#toCompact !== null) {
        const isAll = this.#toCompact === 'all';
        this.#toCompact = null;
        await this.#store.compact(() => this.quiet.turn(), isAll);
      }
    } catch (error) {
      log(`The prompt cache could not be compacted in memory: ${errorMessage(error)}`);
    } finally {
      this.#isCompacting = false;
    }
  }
}

/** Reports the tiers at most once per interval, and only if they changed. */
class TierReport {
  readonly #read: () => CacheTiers;
  readonly #tell: (tiers: CacheTiers) => void;
  #reported: CacheTiers | null = null;
  #isDue = false;

  constructor(read: () => CacheTiers, tell: (tiers: CacheTiers) => void) {
    this.#read = read;
    this.#tell = tell;
  }

  changed(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    setTimeout(() => this.#report(), TIER_REPORT_MS).unref();
  }

  #report(): void {
    this.#isDue = false;
    const tiers = this.#read();
    if (isDeepStrictEqual(tiers, this.#reported)) return;
    this.#reported = tiers;
    this.#tell(tiers);
  }
}

function log(sentence: string): void {
  process.stderr.write(`${sentence}\n`);
}

function latest<T>(nodes: ReadonlySet<T>): T | undefined {
  return Array.from(nodes).at(-1);
}
