/**
 * worker/cache owns the prompt cache: state in host memory and on the disk, found by the longest prefix of tokens. It
 * knows no streams, no steps and nothing of the native library; its input and output are bytes. Prefixes of different
 * owners never meet: each owner has a tree of its own.
 */
import type { CacheTiers } from '../../contract/slots.ts';
import type { PromptCacheSpec } from '../../contract/load.ts';
import { compact } from './compacting.ts';
import type { Pause } from './disk/block-folder.ts';
import { DiskTier } from './disk-tier.ts';
import { EvictedPrefixes } from './evicted-prefixes.ts';
import { type HeldState, type HeldNode, mayLeaveRam, newHeld } from './held-state.ts';
import { type PrefixMatch, PrefixTree, tokensUpTo } from './prefixes/prefix-tree.ts';
import { EvictionRank } from './prefixes/eviction-rank.ts';
import { ownerDomain } from './disk/domain-tag.ts';
import { PIN_SHARE, type PinnedPrefix } from '../../lib/prompt-cache/pin.ts';
import { Pins } from './pins.ts';
import { heldBy, mostFirst } from './shares.ts';
import { bytesPerToken, readState, type StateLayout } from './state-layout.ts';
import { type ReadBack, StateReader, type StateTaker } from './state-reader.ts';
import { TierCounters } from './tier-counters.ts';

/** Tokens of one block. A branch can reuse any beginning of a block, so this does not limit reuse. */
const BLOCK_TOKENS = 128;

export interface Found {
  readonly match: PrefixMatch<HeldState>;
  readonly ramTokens: number;
  readonly diskTokens: number;
  readonly expectedMs: number;
}

interface StoreOptions {
  readonly spec: PromptCacheSpec;
  /** KV streams of the context: one if sequences share their cells, else one for each. */
  readonly streams: number;
  msPerToken(): number;
  log(sentence: string): void;
}

/** Chosen: until the first restore was measured. */
const ASSUMED_BYTES_PER_MS = { ram: 1_500_000, disk: 700_000 };
const FIXED_MS = 1;
const RATE_WEIGHT = 0.4;
/** After this number of tokens, a further token costs twice as much. */
const DEPTH_TOKENS = 8_192;

const NO_MATCH: PrefixMatch<never> = { used: [], length: 0, common: 0, nearest: null };

export class PromptStore {
  readonly #options: StoreOptions;
  /** None is empty: clients choose owners, so trees must not outlive their state. */
  readonly #trees = new Map<string, PrefixTree<HeldState>>();
  readonly #evictedPrefixes = new EvictedPrefixes();
  readonly #worth = new EvictionRank();
  readonly #pins: Pins;
  readonly #tally = new TierCounters();
  readonly #rate = { ...ASSUMED_BYTES_PER_MS };
  readonly #disk: DiskTier | null;
  readonly #reader: StateReader;
  readonly #layouts = new Map<string, StateLayout>();
  #inRamBefore: Set<HeldNode> | null = null;

  constructor(options: StoreOptions) {
    this.#options = options;
    const { disk, pins = [] } = options.spec;
    this.#pins = new Pins(pins);
    this.#disk =
      disk === null
        ? null
        : new DiskTier(disk, {
            nodes: () => this.#nodes(),
            tree: (owner) => this.#tree(owner),
            sharedLayout: (layout) => this.#sharedLayout(layout),
            onDropped: (node) => {
              if (node.payload.ram === null) this.#giveUp(node);
            },
            log: (sentence) => options.log(sentence),
          });
    this.#reader = new StateReader({
      fetch: async (node, staging) => (await this.#disk?.fetch(node, staging)) ?? null,
      decrypt: (node, encrypted, take) => this.#disk?.decrypt(node, encrypted, take) === true,
      used: (node) => this.#used(node),
      lost: (node) => {
        this.#disk?.discard(node);
        this.#remove(node);
      },
    });
  }

  get tiers(): Pick<CacheTiers, 'ram' | 'disk'> {
    const { ramBytes } = this.#options.spec;
    return { ram: ramBytes === 0 ? null : this.#tally.facts(ramBytes), disk: this.#disk?.facts ?? null };
  }

  get keepsFiles(): boolean {
    return this.#disk !== null;
  }

  async open(): Promise<void> {
    await this.#disk?.open(() => this.#markPins(this.#nodes()));
  }

  /**
   * Pins the present and future state of a prefix. Returns the held bytes; null if pins would hold more than their
   * share.
   */
  async pin(pin: PinnedPrefix, tokens: Uint32Array): Promise<number | null> {
    await this.#disk?.lookAround();
    const { length } = this.find(pin.owner, tokens).match;
    const nodes = length < tokens.length ? [] : this.#holding(pin.owner, tokens);
    this.#pins.add(pin);
    this.#markPins(nodes);
    if (nodes.some(({ payload }) => !payload.isPinned)) {
      this.#pins.remove(pin);
      return null;
    }
    await this.#disk?.mark();
    return nodes.reduce((sum, { payload }) => sum + payload.bytes, 0);
  }

  async unpin(pin: PinnedPrefix): Promise<void> {
    this.#pins.remove(pin);
    for (const { payload } of this.#nodes()) payload.isPinned = false;
    this.#markPins(this.#nodes());
    await this.#disk?.mark();
    this.#makeRoom();
  }

  /**
   * Whether no tier holds a pinned beginning of these tokens. `cuttable`: their state contains that of every
   * beginning.
   */
  missesPinned(owner: string, tokens: Uint32Array, cuttable: boolean): boolean {
    return this.#pins.beginning(owner, tokens).some((pin) => {
      if (!cuttable && pin.tokens !== tokens.length) return false;
      return this.missing(owner, tokens.subarray(0, pin.tokens)) > 0;
    });
  }

  /** The lower limit of both tiers: state that fits one fits the other. */
  get pinLimitBytes(): number {
    const { ramBytes } = this.#options.spec;
    const limits = [ramBytes * PIN_SHARE, this.#disk?.pinLimitBytes ?? 0].filter((bytes) => bytes > 0);
    return limits.length === 0 ? 0 : Math.min(...limits);
  }

  #holding(owner: string, tokens: Uint32Array): HeldNode[] {
    return this.#match(owner, tokens).used.map(({ node }) => node);
  }

  #markPins(candidates: Iterable<HeldNode>): void {
    this.#pins.mark(candidates, this.#nodes(), this.pinLimitBytes);
  }

  find(owner: string, prompt: Uint32Array): Found {
    const match = this.#match(owner, prompt);
    let ramTokens = 0;
    let diskTokens = 0;
    let expectedMs = FIXED_MS;
    for (const { node, tokens } of match.used) {
      const { ram, bytes } = node.payload;
      if (ram === null) diskTokens += tokens;
      else ramTokens += tokens;
      expectedMs += bytes / (ram === null ? this.#rate.disk : this.#rate.ram);
    }
    return { match, ramTokens, diskTokens, expectedMs };
  }

  missing(owner: string, tokens: Uint32Array): number {
    const { used } = this.#match(owner, tokens);
    const last = used.at(-1);
    return tokens.length - (last === undefined ? 0 : last.node.start + last.tokens);
  }

  wasHeld(owner: string, prompt: Uint32Array, beyond: number): boolean {
    return this.#evictedPrefixes.longest(owner, prompt) > beyond;
  }

  lost(owner: string, tokens: Uint32Array): void {
    this.#evictedPrefixes.add(owner, tokens);
  }

  /**
   * Keeps the state of these tokens in memory; the store owns `bytes` from now on. This is fast: `compact` copies
   * rows out later. `cuttable`: the state contains that of every beginning.
   */
  keep(owner: string, tokens: Uint32Array, bytes: Uint8Array, cuttable: boolean): void {
    const state = cuttable ? readState(bytes, tokens.length) : null;
    const tree = this.#tree(owner);
    if (state === null) {
      const savesMs = this.#savesMs(0, tokens.length);
      const node = tree.addWhole(tokens, () =>
        newHeld({ owner, savesMs, layout: null, bytes: bytes.length, ram: bytes, file: null }),
      );
      if (node !== null) this.#came(node);
      this.#markPins(node === null ? [] : [node]);
    } else {
      const layout = this.#sharedLayout(state.layout);
      const each = bytesPerToken(layout);
      const held = (start: number, end: number): HeldState => {
        const savesMs = this.#savesMs(start, end - start);
        const ram = { state, start, end };
        return newHeld({ owner, savesMs, layout, bytes: (end - start) * each, ram, file: null });
      };
      const added = tree.addRows(tokens, held, (replaced) => this.#replaced(replaced));
      for (const node of added) this.#came(node);
      this.#markPins(added);
    }
    this.#makeRoom();
  }

  /** Frees states of which only some rows are used, with pauses between copies. `all`: also fully used ones. */
  async compact(pause: Pause, all: boolean): Promise<void> {
    const held = Array.from(this.#nodes(), ({ payload }) => payload);
    await compact(held, { limitBytes: this.#options.spec.ramBytes, all }, pause);
  }

  /** While states pass through memory on their way to the disk, they may exceed its limit. */
  async saving(work: () => Promise<void>): Promise<void> {
    this.#inRamBefore = new Set([...this.#nodes()].filter(({ payload }) => payload.ram !== null));
    try {
      await work();
    } finally {
      this.#inRamBefore = null;
      this.#makeRoom();
    }
  }

  wasInRam(node: HeldNode): boolean {
    return this.#inRamBefore?.has(node) === true;
  }

  /** Writes state that is only in memory, then drops it there if `leavesRam`. */
  async save(pause: Pause, leavesRam: (node: HeldNode) => boolean): Promise<void> {
    await this.#disk?.save(pause, (node) => {
      if (leavesRam(node) && node.payload.pins === 0) this.#leaveRam(node);
    });
  }

  async read({ match }: Pick<Found, 'match'>, pause: Pause, taker: StateTaker): Promise<ReadBack> {
    const startedMs = performance.now();
    for (const { node } of match.used) node.payload.pins += 1;
    try {
      const read = await this.#reader.read(match.used, pause, taker);
      if (read.refusal === null) this.#measured(match, performance.now() - startedMs);
      return read;
    } finally {
      for (const { node } of match.used) node.payload.pins -= 1;
    }
  }

  restored({ ramTokens, diskTokens }: Pick<Found, 'ramTokens' | 'diskTokens'>): void {
    this.#tally.restoredTokens += ramTokens;
    this.#disk?.restored(diskTokens);
  }

  #used({ payload }: HeldNode): void {
    if (payload.ram !== null) this.#worth.used(payload.inRam);
    else this.#disk?.used(payload);
  }

  #measured({ used }: PrefixMatch<HeldState>, ms: number): void {
    const bytes = used.reduce((sum, { node }) => sum + node.payload.bytes, 0);
    const tier = used.some(({ node }) => node.payload.ram === null) ? 'disk' : 'ram';
    this.#rate[tier] += RATE_WEIGHT * (bytes / Math.max(ms, 0.1) - this.#rate[tier]);
  }

  #makeRoom(): void {
    if (this.#inRamBefore !== null) return;
    while (this.#tally.bytes > this.#options.spec.ramBytes) {
      const node = this.#firstToGo();
      if (node === undefined) return;
      this.#tally.evictions += 1;
      this.#leaveRam(node);
      if (node.payload.file === null) this.#giveUp(node);
    }
  }

  #firstToGo(): HeldNode | undefined {
    const { ramBytes } = this.#options.spec;
    const nodes = [...this.#nodes()].filter(({ payload }) => payload.ram !== null);
    for (const domain of mostFirst(nodes.map(({ payload }) => heldBy(payload)))) {
      const mayGo = nodes.filter(
        (node) => ownerDomain(node.payload.owner) === domain && mayLeaveRam(node, ramBytes > 0),
      );
      const least = this.#worth.least(mayGo, ({ payload }) => payload.inRam);
      if (least !== undefined) return least;
    }
    return undefined;
  }

  #giveUp(node: HeldNode): void {
    this.lost(node.payload.owner, tokensUpTo(node));
    this.#remove(node);
  }

  #replaced(node: HeldNode): void {
    this.#gone(node);
  }

  #remove(node: HeldNode): void {
    const { owner } = node.payload;
    const tree = this.#trees.get(owner);
    for (const gone of tree?.remove(node) ?? []) this.#gone(gone);
    if (tree?.isEmpty === true) this.#trees.delete(owner);
  }

  /** Removed from the tree; running reads continue. */
  #gone(node: HeldNode): void {
    const { payload, tokens } = node;
    if (payload.gone) return;
    payload.gone = true;
    if (payload.ram !== null) this.#tally.left(payload.bytes, tokens);
    this.#disk?.discard(node);
  }

  #came({ payload, tokens }: HeldNode): void {
    this.#worth.used(payload.inRam);
    this.#tally.came(payload.bytes, tokens);
  }

  #leaveRam({ payload, tokens }: HeldNode): void {
    if (payload.ram === null || payload.gone) return;
    payload.ram = null;
    this.#tally.left(payload.bytes, tokens);
  }

  /** Replaces the number of streams by that of this context, since another may have written the state. */
  #sharedLayout(layout: StateLayout): StateLayout {
    const own = { ...layout, streams: this.#options.streams };
    const key = JSON.stringify([own.magic, own.transposed, own.keys, own.values]);
    const known = this.#layouts.get(key) ?? own;
    this.#layouts.set(key, known);
    return known;
  }

  #savesMs(start: number, tokens: number): number {
    return tokens * this.#options.msPerToken() * (1 + (start + tokens / 2) / DEPTH_TOKENS);
  }

  *#nodes(): Generator<HeldNode> {
    for (const tree of this.#trees.values()) yield* tree.nodes();
  }

  #match(owner: string, tokens: Uint32Array): PrefixMatch<HeldState> {
    return this.#trees.get(owner)?.find(tokens) ?? NO_MATCH;
  }

  #tree(owner: string): PrefixTree<HeldState> {
    let tree = this.#trees.get(owner);
    if (tree === undefined) {
      tree = new PrefixTree(BLOCK_TOKENS);
      this.#trees.set(owner, tree);
    }
    return tree;
  }
}
