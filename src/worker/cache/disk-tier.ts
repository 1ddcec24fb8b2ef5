/** The tree's nodes on the disk: found again after a restart, written while no request waits, bounded. */
import { rm } from 'node:fs/promises';
import path from 'node:path';
import type { CacheTiers } from '../../contract/slots.ts';
import type { DiskCacheSpec } from '../../contract/load.ts';
import { PIN_SHARE } from '../../lib/prompt-cache/pin.ts';
import { errorMessage } from '../../lib/errors/svc-error.ts';
import { type CachedFile, cachedKinds } from '../../lib/files/cache-folder.ts';
import { BlockFolder, type Pause, type Staging, type StoredBlock } from './disk/block-folder.ts';
import { type BlockHeader, decodeTokens, tokensText } from './disk/block-header.ts';
import { TAG_CHARS } from './disk/domain-tag.ts';
import { type HeldState, type HeldNode, mayLeaveDisk, newHeld, piecesInRam } from './held-state.ts';
import type { PrefixTree } from './prefixes/prefix-tree.ts';
import { mostFirst } from './shares.ts';
import { EvictionRank } from './prefixes/eviction-rank.ts';
import type { StateLayout } from './state-layout.ts';
import { TierCounters } from './tier-counters.ts';

interface DiskTierDeps {
  nodes(): Iterable<HeldNode>;
  tree(owner: string): PrefixTree<HeldState>;
  sharedLayout(layout: StateLayout): StateLayout;
  onDropped(node: HeldNode): void;
  log(sentence: string): void;
}

/** State under adapters is not kept: adapter files have no digest that a key could name. */
const hasAdapters = (owner: string): boolean => owner.includes('\n');

export class DiskTier {
  readonly #spec: DiskCacheSpec;
  readonly #deps: DiskTierDeps;
  readonly #folder: BlockFolder;
  readonly #worth = new EvictionRank();
  readonly #tally = new TierCounters();
  /** Files of other models, the oldest first, as of the last listing. */
  #others: CachedFile[] = [];
  #removed: Promise<void> = Promise.resolve();

  constructor(spec: DiskCacheSpec, deps: DiskTierDeps) {
    this.#spec = spec;
    this.#deps = deps;
    const key = { secret: Buffer.from(spec.secret, 'hex'), belongsTo: spec.kind };
    this.#folder = new BlockFolder(`${spec.folder}/${spec.kind}`, key, deps.log);
  }

  get facts(): NonNullable<CacheTiers['disk']> {
    return { ...this.#tally.facts(this.#spec.bytes), othersBytes: this.#othersBytes };
  }

  get #othersBytes(): number {
    return this.#others.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  get pinLimitBytes(): number {
    const others = this.#others.filter(({ isPinned }) => isPinned).reduce((sum, { bytes }) => sum + bytes, 0);
    return Math.max(1, this.#spec.bytes * PIN_SHARE - others);
  }

  async lookAround(): Promise<void> {
    this.#others = await othersFiles(this.#spec);
  }

  /** An unreadable folder counts as empty. `onAdopted`: its state is in the trees, and nothing has been evicted yet. */
  async open(onAdopted: () => void): Promise<void> {
    try {
      const nodes = new Map<string, HeldNode>();
      for (const block of await this.#folder.scan()) {
        const node = this.#adopt(block, nodes);
        if (node === null) await this.#folder.remove(block.id);
        else nodes.set(block.id, node);
      }
      await this.lookAround();
      onAdopted();
      await this.mark();
      await this.#makeRoom(0);
    } catch (error) {
      this.#deps.log(`The prompt cache on the disk cannot be read: ${errorMessage(error)}`);
    }
  }

  /**
   * Writes nodes that are only in memory, parents first; stops if the disk refuses. Afterwards no discarded file is
   * left.
   */
  async save(pause: Pause, onSaved: (node: HeldNode) => void): Promise<void> {
    let wrote = false;
    try {
      for (const node of Array.from(this.#deps.nodes())) {
        if (!isUnsaved(node)) continue;
        await pause();
        if (!isUnsaved(node)) continue;
        // This lists every file, so it runs only before the first write.
        if (!wrote) await this.lookAround();
        if (!(await this.#makeRoom(node.payload.bytes))) return;
        wrote = true;
        await this.#write(node, pause);
        onSaved(node);
      }
    } catch (error) {
      this.#deps.log(`The prompt cache could not be written: ${errorMessage(error)}`);
    } finally {
      await this.#removed;
      if (wrote) await this.#folder.sync().catch(() => undefined);
    }
  }

  async fetch({ payload: { file } }: HeldNode, staging: Staging): Promise<Buffer | null> {
    return file === null ? null : this.#folder.fetch(file, staging);
  }

  decrypt(
    { payload: { file } }: HeldNode,
    encrypted: Buffer,
    take: (next: (bytes: number) => Uint8Array) => void,
  ): boolean {
    return file !== null && this.#folder.open(file, encrypted, take);
  }

  used({ file, onDisk }: HeldState): void {
    if (file === null) return;
    file.usedMs = Date.now();
    this.#worth.used(onDisk);
    void this.#folder.touch(file);
  }

  async mark(): Promise<void> {
    for (const node of Array.from(this.#deps.nodes())) {
      const { file, isPinned } = node.payload;
      if (file === null || file.isPinned === isPinned) continue;
      file.isPinned = isPinned;
      file.usedMs = Date.now();
      await this.#folder.touch(file);
    }
  }

  restored(tokens: number): void {
    this.#tally.restoredTokens += tokens;
  }

  discard({ payload, tokens }: HeldNode): void {
    if (payload.file === null) return;
    const removal = this.#folder.remove(payload.file.id);
    this.#removed = this.#removed.then(() => removal);
    this.#tally.left(payload.file.bytes, tokens);
    payload.file = null;
  }

  #adopt(block: StoredBlock, nodes: ReadonlyMap<string, HeldNode>): HeldNode | null {
    const { header } = block;
    const tokens = decodeTokens(header.tokens);
    const parent = header.parent === null ? null : (nodes.get(header.parent) ?? null);
    const start = parent === null ? 0 : parent.start + parent.tokens.length;
    if (tokens === null || start !== header.start || (parent === null) !== (header.parent === null))
      return null;
    const { owner, rowBytes: bytes, savesMs } = header;
    const layout = header.layout === null ? null : this.#deps.sharedLayout(header.layout);
    const held = newHeld({ owner, layout, bytes, savesMs, ram: null, file: block });
    const kind = layout === null ? 'whole' : 'rows';
    const node = this.#deps.tree(owner).restore(kind, tokens, parent, held);
    if (node === null) return null;
    this.#worth.used(held.onDisk);
    this.#tally.came(block.bytes, tokens);
    return node;
  }

  async #write(node: HeldNode, pause: Pause): Promise<void> {
    const { payload, tokens, start, parent } = node;
    const { owner, layout, ram } = payload;
    if (ram === null) return;
    payload.pins += 1;
    try {
      const header: BlockHeader = {
        parent: parent?.payload.file?.id ?? null,
        start,
        tokens: tokensText(tokens),
        owner,
        layout: layout === null ? null : writable(layout),
        rowBytes: payload.bytes,
        savesMs: payload.inRam.savesMs,
      };
      const block = await this.#folder.write(header, piecesInRam(ram), pause);
      block.isPinned = payload.isPinned;
      await this.#folder.touch(block);
      if (payload.gone) return await this.#folder.remove(block.id);
      payload.file = block;
      this.#tally.came(block.bytes, tokens);
      this.#worth.used(payload.onDisk);
    } finally {
      payload.pins -= 1;
    }
  }

  /** Evicts state of the domain that holds most of the disk, over all models. */
  async #makeRoom(more: number): Promise<boolean> {
    const taken = (): number => this.#othersBytes + this.#tally.bytes + more;
    while (taken() > this.#spec.bytes) if (!(await this.#evictOne())) return false;
    // Space that was counted as free must be free before anything is written.
    await this.#removed;
    return true;
  }

  async #evictOne(): Promise<boolean> {
    const own = [...this.#deps.nodes()].flatMap((node) => {
      const { file } = node.payload;
      return file === null ? [] : [{ node, file, by: file.id.slice(0, TAG_CHARS), bytes: file.bytes }];
    });
    const others = this.#others
      .filter(({ isPinned }) => !isPinned)
      .map((file) => ({ file, by: tagIn(file), bytes: file.bytes }));
    for (const domain of mostFirst([...own, ...others])) {
      const ownFiles = own.filter(({ by }) => by === domain);
      const oldestOwnMs = ownFiles.reduce((oldest, { file }) => Math.min(oldest, file.usedMs), Infinity);
      const other = others.find(({ by }) => by === domain)?.file;
      // The least recently used is removed: a file of another model, or the least valuable of this one.
      if (other !== undefined && other.usedMs <= oldestOwnMs) return await this.#evictOther(other);
      const mayGo = ownFiles.map(({ node }) => node).filter(mayLeaveDisk);
      const least = this.#worth.least(mayGo, ({ payload }) => payload.onDisk);
      if (least !== undefined) return this.#evictOwn(least);
      if (other !== undefined) return await this.#evictOther(other);
    }
    return false;
  }

  #evictOwn(node: HeldNode): true {
    this.#tally.evictions += 1;
    this.discard(node);
    this.#deps.onDropped(node);
    return true;
  }

  async #evictOther(file: CachedFile): Promise<true> {
    this.#others = this.#others.filter((other) => other !== file);
    await rm(file.path, { force: true });
    this.#tally.evictions += 1;
    return true;
  }
}

const tagIn = (file: CachedFile): string => path.basename(file.path).slice(0, TAG_CHARS);

async function othersFiles({ folder, kind }: DiskCacheSpec): Promise<CachedFile[]> {
  const others = (await cachedKinds(folder)).filter(({ name }) => name !== kind);
  return others.flatMap(({ files }) => files).sort((a, b) => a.usedMs - b.usedMs);
}

function writable({ magic, streams, transposed, keys, values }: StateLayout): BlockHeader['layout'] {
  return {
    magic,
    streams,
    transposed,
    keys: keys.map(([type, bytes]) => [type, bytes]),
    values: values.map((value) => [...value]),
  };
}

function isUnsaved({ payload, parent }: HeldNode): boolean {
  const { ram, file, gone, owner } = payload;
  if (ram === null || file !== null || gone || hasAdapters(owner)) return false;
  return parent === null || parent.payload.file !== null;
}
