/** Both tiers over a real disk, with states of a made-up model: bounded, found again, never in the way. */
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { queryObjects } from 'node:v8';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type PinnedPrefix, pinnedPrefix } from '../../lib/prompt-cache/pin.ts';
import { PrefixTree } from './prefixes/prefix-tree.ts';
import { PromptStore } from './prompt-store.ts';
import { bytesPerToken, StateBuilder, type StateLayout } from './state-layout.ts';

const LAYOUT: StateLayout = { magic: 5, streams: 1, transposed: false, keys: [[1, 32]], values: [[1, 32]] };
const EACH = bytesPerToken(LAYOUT);
const KIND = `${'e'.repeat(16)}-${'e'.repeat(32)}`;
const go = async (): Promise<void> => {};

let home: string;
let log: string[];

beforeEach(async () => {
  home = await mkdtemp(path.join(tmpdir(), 'hearth-store-'));
  log = [];
});
afterEach(() => rm(home, { recursive: true, force: true }));

function storeOf(
  ramTokens: number,
  diskTokens: number,
  folder = home,
  streams = 1,
  { pins = [], kind = KIND }: { pins?: PinnedPrefix[]; kind?: string } = {},
): PromptStore {
  const disk = { folder, bytes: diskTokens * EACH, kind, secret: 'f'.repeat(64) };
  return new PromptStore({
    spec: { ramBytes: ramTokens * EACH, disk: diskTokens === 0 ? null : disk, pins },
    streams,
    msPerToken: () => 1,
    log: (sentence) => log.push(sentence),
  });
}

/** A conversation that shares its first `shared` tokens with all others. */
function conversation(id: number, length: number, shared = 0): Uint32Array {
  return Uint32Array.from({ length }, (_, at) => (at < shared ? at : id * 10_000 + at));
}

/** A state whose every row tells its token; `start`: of the positions. */
function stateOf(tokens: Uint32Array, streams = 1, start = 0): Uint8Array {
  const builder = new StateBuilder({ ...LAYOUT, streams }, { start, tokens: tokens.length });
  builder.add({ start, held: tokens.length, used: tokens.length }, (bytes) => {
    const rows = Buffer.alloc(bytes);
    for (const [at, token] of tokens.entries()) rows.writeUInt32LE(token, at * 32);
    return rows;
  });
  return builder.bytes;
}

/** What the store gives back of these tokens, and what it says of it. */
async function readBack(store: PromptStore, tokens: Uint32Array, inParts = false) {
  const states: Uint8Array[] = [];
  const take = (state: Uint8Array): boolean => states.push(Buffer.from(state)) > 0;
  return { ...(await store.read(store.find('', tokens), go, { inParts, take })), states };
}

async function stateBack(store: PromptStore, tokens: Uint32Array): Promise<Uint8Array | undefined> {
  return (await readBack(store, tokens)).states[0];
}

async function diskBytes(): Promise<number> {
  const folder = path.join(home, KIND);
  const sizes = await Promise.all(
    (await readdir(folder)).map(async (name) => (await stat(path.join(folder, name))).size),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

describe('the prompt cache', () => {
  it.each([
    ['in memory', 1_000, 0],
    ['on the disk', 100_000, 1_300],
  ])('keeps what one key has %s, however much another brings', async (_, ramTokens, diskTokens) => {
    const store = storeOf(ramTokens, diskTokens);
    await store.open();
    const save = () => store.save(go, () => diskTokens > 0);
    const mine = conversation(1, 300);
    store.keep('alice', mine, stateOf(mine), true);
    await save();
    for (let id = 2; id < 30; id += 1) {
      const theirs = conversation(id, 300);
      store.keep(id % 2 === 0 ? 'mallory' : 'mallory\nadapter=1', theirs, stateOf(theirs), true);
      await save();
    }
    expect(store.missing('alice', mine)).toBe(0);
    expect(store.missing('mallory', conversation(2, 300))).toBe(300);
  });

  it('lets a key push out its own state of another model, and not that of another key', async () => {
    const other = { folder: home, bytes: 1_500 * EACH, kind: `${'d'.repeat(16)}-${'d'.repeat(32)}` };
    const spec = { ramBytes: 1e9, disk: { ...other, secret: 'f'.repeat(64) } };
    const before = new PromptStore({ spec, streams: 1, msPerToken: () => 1, log: (text) => log.push(text) });
    await before.open();
    for (const [owner, id] of [
      ['alice', 1],
      ['mallory', 2],
    ] as const) {
      const tokens = conversation(id, 300);
      before.keep(owner, tokens, stateOf(tokens), true);
      await before.save(go, () => true);
    }
    const store = storeOf(100_000, 1_500);
    await store.open();
    for (let id = 3; id < 12; id += 1) {
      const tokens = conversation(id, 300);
      store.keep('mallory', tokens, stateOf(tokens), true);
      await store.save(go, () => true);
    }
    const after = new PromptStore({ spec, streams: 1, msPerToken: () => 1, log: (text) => log.push(text) });
    await after.open();
    expect(after.missing('alice', conversation(1, 300))).toBe(0);
    expect(after.missing('mallory', conversation(2, 300))).toBe(300);
    expect(log).toEqual([]);
  });

  it('gives back any beginning, byte for byte, before and after rows were copied, and from the disk', async () => {
    const store = storeOf(10_000, 10_000);
    await store.open();
    const tokens = conversation(1, 700);
    const part = tokens.slice(0, 333);
    store.keep('', tokens, stateOf(tokens), true);
    expect(await stateBack(store, part)).toEqual(stateOf(part));
    await store.compact(go, true);
    expect(await stateBack(store, part)).toEqual(stateOf(part));
    await store.save(go, () => true);
    expect(store.tiers.ram?.bytes).toBe(0);
    expect(await stateBack(store, part)).toEqual(stateOf(part));
    const later = storeOf(10_000, 10_000);
    await later.open();
    expect(later.find('', tokens)).toMatchObject({ diskTokens: 700, ramTokens: 0 });
    expect(await stateBack(later, tokens)).toEqual(stateOf(tokens));
    expect(later.find('somebody else', tokens).match.length).toBe(0);
  });

  it('gives back the beginning of rows that are longer than a piece of a file', async () => {
    const layout: StateLayout = { ...LAYOUT, keys: [[1, 4096]], values: [[1, 4096]] };
    const stateFor = (tokens: Uint32Array): Uint8Array => {
      const builder = new StateBuilder(layout, { start: 0, tokens: tokens.length });
      let at = 0;
      const place = { start: 0, held: tokens.length, used: tokens.length };
      builder.add(place, (bytes) => {
        const rows = Buffer.alloc(bytes);
        for (let row = 0; row < bytes; row += 4096, at += 1)
          rows.writeUInt32LE(tokens[at % tokens.length] ?? 0, row);
        return rows;
      });
      return builder.bytes;
    };
    const store = storeOf(100_000, 100_000);
    await store.open();
    const tokens = conversation(1, 300);
    store.keep('', tokens, stateFor(tokens), true);
    await store.save(go, () => true);
    for (const length of [300, 290, 140, 129, 20]) {
      const part = tokens.slice(0, length);
      const state = await stateBack(store, part);
      // Byte by byte in one go: a matcher takes seconds for a megabyte.
      expect(state?.length).toBe(stateFor(part).length);
      expect(Buffer.compare(state ?? Buffer.alloc(0), stateFor(part))).toBe(0);
    }
  });

  it('gives back part after part, from memory and from the disk', async () => {
    const store = storeOf(10_000, 10_000);
    await store.open();
    const tokens = conversation(1, 300);
    store.keep('', tokens, stateOf(tokens), true);
    const ends = [128, 256, 290];
    const parts = ends.map((end, at) => {
      const start = ends[at - 1] ?? 0;
      return stateOf(tokens.slice(start, end), 1, start);
    });
    for (const where of ['ramTokens', 'diskTokens']) {
      const { states, ...read } = await readBack(store, tokens.slice(0, 290), true);
      expect(read).toEqual({ ramTokens: 0, diskTokens: 0, refusal: null, [where]: 290 });
      expect(states).toEqual(parts);
      await store.save(go, () => true);
    }
  });

  it('copies rows out of a state at once only where most of it is of no use', async () => {
    const store = storeOf(10_000, 0);
    let pauses = 0;
    const count = async (): Promise<void> => void (pauses += 1);
    const [first, second] = [conversation(1, 300, 256), conversation(2, 300, 256)];
    store.keep('', first, stateOf(first), true);
    await store.compact(count, false);
    expect(pauses).toBe(0);
    store.keep('', second, stateOf(second), true);
    await store.compact(count, false);
    expect(pauses).toBe(1);
    await store.compact(count, true);
    expect(pauses).toBe(4);
    expect(await stateBack(store, second)).toEqual(stateOf(second));
  });

  it('copies rows out of states that take more together than memory may hold', async () => {
    const store = storeOf(1_000, 0);
    let pauses = 0;
    const count = async (): Promise<void> => void (pauses += 1);
    for (const length of [500, 900]) {
      const tokens = conversation(1, length);
      store.keep('', tokens, stateOf(tokens), true);
    }
    await store.compact(count, false);
    expect(pauses).toBeGreaterThan(0);
    expect(await stateBack(store, conversation(1, 900))).toEqual(stateOf(conversation(1, 900)));
  });

  it('gives back no more once a part was not taken', async () => {
    const store = storeOf(10_000, 0);
    const tokens = conversation(1, 300);
    store.keep('', tokens, stateOf(tokens), true);
    let taken = 0;
    const take = (): boolean => (taken += 1) < 2;
    const read = await store.read(store.find('', tokens), go, { inParts: true, take });
    expect([taken, read]).toEqual([2, { ramTokens: 128, diskTokens: 0, refusal: 'not_restored' }]);
    expect(store.find('', tokens).match.length).toBe(300);
  });

  it('gives back several prompts at a time from the disk', async () => {
    const store = storeOf(10_000, 10_000);
    await store.open();
    const all = [1, 2, 3].map((id) => conversation(id, 500));
    for (const tokens of all) store.keep('', tokens, stateOf(tokens), true);
    await store.save(go, () => true);
    expect(await Promise.all(all.map((tokens) => stateBack(store, tokens)))).toEqual(
      all.map((tokens) => stateOf(tokens)),
    );
  });

  it('gives back what a context of another number of streams left', async () => {
    const before = storeOf(10_000, 10_000, home, 4);
    await before.open();
    const tokens = conversation(1, 300);
    before.keep('', tokens, stateOf(tokens, 4), true);
    await before.save(go, () => true);
    const store = storeOf(10_000, 10_000);
    await store.open();
    expect(await stateBack(store, tokens)).toEqual(stateOf(tokens));
    const longer = conversation(1, 400);
    store.keep('', longer, stateOf(longer), true);
    expect(await stateBack(store, longer)).toEqual(stateOf(longer));
  });

  it.each([true, false])('goes on with what lies before a damaged file; in parts: %s', async (inParts) => {
    const store = storeOf(10_000, 10_000);
    await store.open();
    const tokens = conversation(1, 300);
    store.keep('', tokens, stateOf(tokens), true);
    await store.save(go, () => true);
    const folder = path.join(home, KIND);
    const names = await readdir(folder);
    const sizes = await Promise.all(names.map(async (name) => (await stat(path.join(folder, name))).size));
    // The last block is the shortest.
    const last = names[sizes.indexOf(Math.min(...sizes))] ?? '';
    await writeFile(path.join(folder, last), Buffer.alloc(Math.min(...sizes)));
    const isPart = { ramTokens: 0, diskTokens: 256, refusal: 'damaged' };
    expect(await readBack(store, tokens, inParts)).toMatchObject(
      inParts ? isPart : { ...isPart, diskTokens: 0, states: [] },
    );
    expect(store.find('', tokens).diskTokens).toBe(256);
    expect(await stateBack(store, tokens)).toEqual(stateOf(tokens.slice(0, 256)));
    expect(store.tiers).toMatchObject({ ram: { bytes: 0, tokens: 0 }, disk: { tokens: 256 } });
    await store.save(go, () => false);
    expect(store.tiers.disk?.bytes).toBe(await diskBytes());
  });

  it('holds and writes what conversations share once', async () => {
    const store = storeOf(100_000, 100_000);
    await store.open();
    const shared = 1_280;
    for (let id = 1; id <= 5; id += 1) {
      const tokens = conversation(id, shared + 128, shared);
      store.keep('', tokens, stateOf(tokens), true);
    }
    expect(store.tiers.ram?.bytes).toBe((shared + 5 * 128) * EACH);
    await store.save(go, () => false);
    expect((await readdir(path.join(home, KIND))).length).toBe(shared / 128 + 5);
  });

  it('never exceeds its budgets, and gives up what was used longest ago', async () => {
    const store = storeOf(1_000, 1_400);
    await store.open();
    for (let id = 1; id <= 12; id += 1) {
      const tokens = conversation(id, 256);
      store.keep('', tokens, stateOf(tokens), true);
      expect(store.tiers.ram?.bytes).toBeLessThanOrEqual(1_000 * EACH);
      await store.save(go, () => false);
      expect(await diskBytes()).toBeLessThanOrEqual(1_400 * EACH);
    }
    expect(store.missing('', conversation(12, 256))).toBe(0);
    expect(store.missing('', conversation(1, 256))).toBe(256);
    expect(store.wasHeld('', conversation(1, 256), 100)).toBe(true);
  });

  describe('with a client that is a new owner in every request', () => {
    const owners = Array.from({ length: 100 }, (_, at) => `mallory\nadapter=${at / 7}`);
    const domains = owners.map((owner) => owner.replace('\n', ' '));

    it.each([
      ['looks up', owners, 1_000, 0],
      ['keeps rows in memory', owners, 1_000, 0],
      ['keeps wholes in memory', owners, 1_000, 0],
      ['keeps rows on the disk', domains, 0, 1_400],
    ])('holds only where there is state, if that one %s', async (what, names, ramTokens, diskTokens) => {
      const store = storeOf(ramTokens, diskTokens);
      await store.open();
      const before = queryObjects(PrefixTree, { format: 'count' });
      const tokens = conversation(1, 256);
      for (const owner of names) {
        store.find(owner, tokens);
        store.missing(owner, tokens);
        store.wasHeld(owner, tokens, 0);
        if (what === 'looks up') continue;
        store.keep(owner, tokens, stateOf(tokens), what !== 'keeps wholes in memory');
        await store.save(go, () => diskTokens > 0);
      }
      const held = names.filter((owner) => store.find(owner, tokens).match.length > 0).length;
      expect(held).toBeLessThanOrEqual(10);
      expect(queryObjects(PrefixTree, { format: 'count' }) - before).toBe(held);
    });

    it('remembers a bounded part of what was evicted, and that of others', () => {
      const store = storeOf(0, 0);
      const mine = conversation(1, 256);
      const [short, long] = [conversation(2, 256), conversation(2, 200_000)];
      const known = ({ length }: Uint32Array): number =>
        owners.filter((owner) => store.wasHeld(owner, long.subarray(0, length), length - 1)).length;
      store.lost('alice', mine);
      for (const owner of owners) store.lost(owner, short);
      expect(known(short)).toBe(63);
      for (const owner of owners.slice(0, 20)) store.lost(owner, long);
      expect(known(long)).toBe(10);
      expect(store.wasHeld('alice', mine, 255)).toBe(true);
    });
  });

  it('takes the room of other models’ state that was used longer ago', async () => {
    const other = path.join(home, 'a'.repeat(32));
    await storeOf(0, 1, other).open();
    await writeFile(path.join(other, 'old.kv'), Buffer.alloc(1_000 * EACH));
    const store = storeOf(1_000, 1_200);
    await store.open();
    const tokens = conversation(1, 512);
    store.keep('', tokens, stateOf(tokens), true);
    await store.save(go, () => false);
    expect(await readdir(other)).not.toContain('old.kv');
    expect(store.tiers.disk?.tokens).toBe(tokens.length);
  });

  it('goes on without a disk that refuses', async () => {
    const file = path.join(home, 'no-folder');
    await writeFile(file, '');
    const store = storeOf(1_000, 1_000, file);
    await store.open();
    const tokens = conversation(1, 256);
    store.keep('', tokens, stateOf(tokens), true);
    await store.save(go, () => false);
    expect(log.length).toBeGreaterThan(0);
    expect(await stateBack(store, tokens)).toEqual(stateOf(tokens));
  });

  it('calls nothing damaged that longer rows replaced while it was read', async () => {
    const store = storeOf(1_000, 1_000);
    await store.open();
    const [tokens, longer] = [conversation(1, 300), conversation(1, 400)];
    store.keep('', tokens, stateOf(tokens), true);
    await store.save(go, () => true);
    let reads = 0;
    const pause = async (): Promise<void> => {
      reads += 1;
      // The last block is read, and not opened yet.
      if (reads === 3) store.keep('', longer, stateOf(longer), true);
    };
    const read = await store.read(store.find('', tokens), pause, { inParts: true, take: () => true });
    expect([reads, read]).toEqual([3, { ramTokens: 0, diskTokens: 256, refusal: 'evicted' }]);
  });

  it('does not use a state of which a file is gone', async () => {
    const store = storeOf(1_000, 1_000);
    await store.open();
    const tokens = conversation(1, 256);
    store.keep('', tokens, stateOf(tokens), true);
    await store.save(go, () => true);
    await rm(path.join(home, KIND), { recursive: true });
    expect(await readBack(store, tokens)).toMatchObject({ refusal: 'evicted', states: [] });
    expect(store.find('', tokens).match.length).toBe(0);
  });
});

describe('a pinned prefix', () => {
  /** Ends inside of a block. */
  const prefix = conversation(1, 300);
  const pin = pinnedPrefix('', prefix);
  const unpinned = conversation(2, 300);

  async function bring(store: PromptStore, from: number, count = 20): Promise<void> {
    for (let id = from; id < from + count; id += 1) {
      const tokens = conversation(id, 300);
      store.keep('', tokens, stateOf(tokens), true);
      await store.save(go, () => true);
    }
  }
  const held = (store: PromptStore, tokens: Uint32Array): boolean => store.missing('', tokens) === 0;

  it('stays in memory, also where it comes after it was pinned, and in a longer conversation', async () => {
    const store = storeOf(1_000, 0);
    expect(await store.pin(pin, prefix)).toBe(0);
    store.keep('', unpinned, stateOf(unpinned), true);
    const longer = conversation(1, 500);
    store.keep('', longer, stateOf(longer), true);
    await bring(store, 10);
    expect([held(store, prefix), held(store, longer), held(store, unpinned)]).toEqual([true, false, false]);
    await store.unpin(pin);
    await bring(store, 40);
    expect(held(store, prefix)).toBe(false);
  });

  it('stays on the disk of this process and the next ones, until it is unpinned', async () => {
    const first = storeOf(0, 2_000);
    await first.open();
    await first.saving(async () => {
      for (const tokens of [prefix, unpinned]) first.keep('', tokens, stateOf(tokens), true);
      await first.save(go, () => true);
    });
    await first.pin(pin, prefix);
    await first.saving(() => bring(first, 10));
    expect([held(first, prefix), held(first, unpinned)]).toEqual([true, false]);
    const second = storeOf(0, 2_000, home, 1, { pins: [pin] });
    await second.open();
    await second.saving(() => bring(second, 40));
    expect(held(second, prefix)).toBe(true);
    const third = storeOf(0, 2_000);
    await third.open();
    await third.saving(() => bring(third, 70));
    expect(held(third, prefix)).toBe(false);
  });

  it('makes no room for another model, however much that brings', async () => {
    const mine = storeOf(0, 2_000);
    await mine.open();
    await mine.saving(async () => {
      mine.keep('', prefix, stateOf(prefix), true);
      await mine.save(go, () => true);
    });
    await mine.pin(pin, prefix);
    const other = storeOf(0, 2_000, home, 1, { kind: `${'d'.repeat(16)}-${'d'.repeat(32)}` });
    await other.open();
    await other.saving(() => bring(other, 10));
    // More than there is without the pin.
    const long = conversation(9, 1_950);
    await other.saving(async () => {
      other.keep('', long, new Uint8Array(1_950 * EACH), false);
      await other.save(go, () => true);
    });
    const again = storeOf(0, 2_000, home, 1, { pins: [pin] });
    await again.open();
    expect(held(again, prefix)).toBe(true);
  });

  it('is the key of its owner alone, and refused beyond half of the smaller tier', async () => {
    const store = storeOf(1_000, 500);
    await store.open();
    const theirs = conversation(3, 300);
    store.keep('mallory', prefix, stateOf(prefix), true);
    store.keep('', theirs, stateOf(theirs), true);
    expect(await store.pin(pin, prefix)).toBe(0);
    const large = pinnedPrefix('', theirs);
    expect(await store.pin(large, theirs)).toBeNull();
    await bring(store, 10);
    expect(store.missing('mallory', prefix)).toBeGreaterThan(0);
    expect(held(store, theirs)).toBe(false);
  });
});
