import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { RESPONSE_LIMITS, ResponseStore } from './response-store.ts';

let home = '';
let now = Date.now();
let warnings: object[] = [];
const clock = { unixMs: () => now };
const open = (limits: Partial<typeof RESPONSE_LIMITS> = {}): ResponseStore => {
  const store = new ResponseStore(home, clock, {
    limits: { ...RESPONSE_LIMITS, ...limits },
    log: { warn: (facts, message) => warnings.push({ ...facts, message }) },
  });
  // The folder goes after that, not below what the disk is still given.
  onTestFinished(() => store.settled());
  return store;
};
const folder = () => path.join(home, 'responses');
const files = () => readdir(folder());
const put = (store: ResponseStore, owner: string, id: string, record: object = {}): Promise<boolean> => {
  const text = JSON.stringify(record);
  const writing = store.begin(owner, id);
  writing.add(text.slice(0, 1));
  return writing.end(text.slice(1));
};

beforeEach(async () => {
  now = Date.now();
  warnings = [];
  const made = await mkdtemp(path.join(tmpdir(), 'hearth-responses-'));
  home = made;
  onTestFinished(() => rm(made, { recursive: true, force: true }));
});

describe('kept responses', () => {
  it('belong to their owner, outlive the process, and can be deleted once', async () => {
    const first = open();
    await put(first, 'a', 'r', { n: 1 });
    await first.settled();
    const store = open();
    expect(await store.get('a', 'r')).toEqual({ n: 1 });
    expect(await store.get('b', 'r')).toBeNull();
    expect(await store.delete('b', 'r')).toBe(false);
    expect(await store.delete('a', 'r')).toBe(true);
    expect(await store.delete('a', 'r')).toBe(false);
    expect(await store.get('a', 'r')).toBeNull();
    expect(await files()).toEqual([]);
  });

  it('have names that lead nowhere, whatever their id', async () => {
    const store = open();
    await put(store, '../../x', '../../../y\0', { n: 1 });
    await store.settled();
    expect(await files()).toEqual([expect.stringMatching(/^[0-9a-f]{16}-[0-9a-f]{64}\.json$/)]);
  });

  it('are bounded in number and bytes, oldest first', async () => {
    const store = open({ records: 2 });
    for (const id of ['1', '2', '3']) await put(store, 'a', id);
    expect(await store.get('a', '1')).toBeNull();
    expect(await store.get('a', '3')).toEqual({});
    await store.settled();
    const small = open({ bytes: 27 });
    await put(small, 'a', '4', { text: 'x'.repeat(15) });
    await small.settled();
    expect((await files()).length).toBe(1);
    expect(await small.get('a', '4')).not.toBeNull();
  });

  it('of one key stay, however many another stores, also after a restart', async () => {
    const store = open({ records: 10, bytes: 400 });
    await put(store, 'alice', 'mine', { n: 1 });
    for (let count = 0; count < 30; count += 1) await put(store, 'mallory', `${count}`);
    await store.settled();
    const again = open({ records: 10, bytes: 400 });
    for (let count = 30; count < 60; count += 1)
      await put(again, 'mallory', `${count}`, { text: 'x'.repeat(count) });
    await again.settled();
    expect(await again.get('alice', 'mine')).toEqual({ n: 1 });
    expect(await again.get('mallory', '59')).not.toBeNull();
    expect((await files()).length).toBeLessThanOrEqual(10);
  });

  it('that an earlier version stored are found by their key alone, and are one share', async () => {
    const old = createHash('sha256').update('alice\nold').digest('hex');
    await mkdir(folder());
    await writeFile(path.join(folder(), `${old}.json`), '{"n":1}\n');
    const store = open({ records: 3 });
    for (const id of ['1', '2', '3', '4']) await put(store, 'mallory', id);
    expect(await store.get('alice', 'old')).toEqual({ n: 1 });
    expect(await store.get('mallory', 'old')).toBeNull();
    expect(await store.delete('alice', 'old')).toBe(true);
    expect((await files()).some((name) => name.startsWith(old))).toBe(false);
  });

  it('are not kept at all when one alone is too long, and leave nothing', async () => {
    expect(await put(open({ recordBytes: 10 }), 'a', 'r', { text: 'too long' })).toBe(false);
    expect(await files()).toEqual([]);
  });

  it('go after their time', async () => {
    const store = open();
    await put(store, 'a', 'r');
    now += RESPONSE_LIMITS.keptMs + 1;
    expect(await store.get('a', 'r')).toBeNull();
    await store.settled();
    expect(await files()).toEqual([]);
  });

  it('that are damaged or removed by hand are none', async () => {
    const store = open();
    await put(store, 'a', 'r');
    await store.settled();
    const [name = ''] = await files();
    await writeFile(path.join(folder(), name), '{"half');
    expect(await store.get('a', 'r')).toBeNull();
    await rm(path.join(folder(), name));
    expect(await store.get('a', 'r')).toBeNull();
    await rm(folder(), { recursive: true });
    await put(store, 'a', 's', { n: 2 });
    expect(await store.get('a', 's')).toEqual({ n: 2 });
  });

  it('can be read, replaced and deleted before the disk has followed', async () => {
    const store = open();
    await put(store, 'a', 'r', { n: 1 });
    await put(store, 'a', 'r', { n: 2 });
    expect(await store.get('a', 'r')).toEqual({ n: 2 });
    await put(store, 'a', 's', { n: 3 });
    expect(await store.delete('a', 's')).toBe(true);
    await store.settled();
    expect(await files()).toHaveLength(1);
    expect(await open().get('a', 'r')).toEqual({ n: 2 });
  });

  it('are read and deleted also where the disk never gives them their names, which is said once', async () => {
    const store = open();
    const writings = ['q', 'r'].map((id) => store.begin('a', id));
    for (const writing of writings) writing.add('{}');
    await put(store, 'a', 's');
    await store.settled();
    const drafts = (await files()).filter((each) => each.startsWith('.'));
    for (const name of drafts) await rename(path.join(folder(), name), path.join(home, name));
    for (const writing of writings) expect(await writing.end('')).toBe(true);
    await store.settled();
    expect(warnings).toEqual([
      expect.objectContaining({ message: 'The disk refused a change of the kept responses.' }),
    ]);
    expect(await store.get('a', 'r')).toEqual({});
    expect(await store.delete('a', 'r')).toBe(true);
    expect(await store.get('a', 'r')).toBeNull();
  });

  it('are refused where nothing can be written', async () => {
    await writeFile(folder(), '');
    const store = open();
    await expect(put(store, 'a', 'r')).rejects.toMatchObject({ code: 'store_unwritable' });
    expect(warnings).toEqual([expect.objectContaining({ error: 'store_unwritable', folder: folder() })]);
    await rm(folder());
    expect(await put(store, 'a', 'r')).toBe(true);
  });
});

describe('what a process leaves that is ended at any moment', () => {
  it('are whole records, found at the next start, and nothing of others', async () => {
    const store = open();
    await put(store, 'a', 'r', { n: 1 });
    await store.settled();
    const [name = ''] = await files();
    const whole = await readFile(path.join(folder(), name), 'utf8');
    const left = (pid: number, text: string) =>
      writeFile(path.join(folder(), `.${name}.tmp-${pid}-${'0'.repeat(12)}`), text);
    for (let length = 0; length < whole.length; length += 1) {
      await left(1, whole.slice(0, length));
      expect(await open().get('a', 'r'), `of ${length} bytes`).toEqual({ n: 1 });
      expect(await files()).toEqual([name]);
    }
    // Also by a process that had the id of this one, as the first of a container has.
    await left(process.pid, whole.replace('1', '2'));
    expect(await open().get('a', 'r')).toEqual({ n: 2 });
    expect(await files()).toEqual([name]);
  });

  it('spoils no other record where it cannot be read, and is left alone where it is no record', async () => {
    const store = open();
    await put(store, 'a', 'r', { n: 1 });
    await store.settled();
    const [name = ''] = await files();
    const strange = [`.${name}.tmp-1-${'0'.repeat(12)}`, `.notes.tmp-1-${'0'.repeat(12)}`];
    await mkdir(path.join(folder(), strange[0] ?? ''));
    await writeFile(path.join(folder(), strange[1] ?? ''), 'mine');
    expect(await open().get('a', 'r')).toEqual({ n: 1 });
    expect(await files()).toEqual([...strange, name].toSorted());
  });
});
