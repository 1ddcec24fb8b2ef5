import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { RESPONSE_LIMITS, ResponseStore } from './response-store.ts';

let home = '';
let now = Date.now();
const clock = { unixMs: () => now };
const open = (limits: Partial<typeof RESPONSE_LIMITS> = {}) =>
  new ResponseStore(home, clock, { ...RESPONSE_LIMITS, ...limits });
const files = () => readdir(path.join(home, 'responses'));

beforeEach(async () => {
  now = Date.now();
  const folder = await mkdtemp(path.join(tmpdir(), 'hearth-responses-'));
  home = folder;
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
});

describe('kept responses', () => {
  it('belong to their owner, outlive the process, and can be deleted once', async () => {
    await open().put('a', 'r', { n: 1 });
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
    await open().put('../../x', '../../../y\0', { n: 1 });
    const names = await files();
    expect(names).toEqual([expect.stringMatching(/^[0-9a-f]{64}\.json$/)]);
  });

  it('are bounded in number and bytes, oldest first', async () => {
    const store = open({ records: 2 });
    for (const id of ['1', '2', '3']) await store.put('a', id, {});
    expect(await store.get('a', '1')).toBeNull();
    expect(await store.get('a', '3')).toEqual({});
    const small = open({ bytes: 27 });
    await small.put('a', '4', { text: 'x'.repeat(15) });
    expect((await files()).length).toBe(1);
    expect(await small.get('a', '4')).not.toBeNull();
  });

  it('are not kept at all when one alone is too long', async () => {
    expect(await open({ recordBytes: 10 }).put('a', 'r', { text: 'too long' })).toBe(false);
  });

  it('go after their time', async () => {
    const store = open();
    await store.put('a', 'r', {});
    now += RESPONSE_LIMITS.keptMs + 1;
    expect(await store.get('a', 'r')).toBeNull();
    expect(await files()).toEqual([]);
  });

  it('that are damaged or removed by hand are none', async () => {
    const store = open();
    await store.put('a', 'r', {});
    const [name = ''] = await files();
    await writeFile(path.join(home, 'responses', name), '{"half');
    expect(await store.get('a', 'r')).toBeNull();
    await rm(path.join(home, 'responses', name));
    expect(await store.get('a', 'r')).toBeNull();
  });
});
