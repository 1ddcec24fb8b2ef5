/** The order of system calls that makes a change survive a power cut; a kill alone would not show a missing sync. */
import type * as fsPromises from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { moveDurably, removeDurably, writeDurably } from './durable.ts';

const calls: string[] = [];
let failWriteWith: string | null = null;
let shortWrites = false;

vi.mock('node:fs/promises', async (importOriginal) => {
  const real = await importOriginal<typeof fsPromises>();
  const name = (path: unknown) => basename(String(path)).replace(/^\..*\.tmp-.*$/, 'temporary');
  const watch = (handle: FileHandle, path: unknown): FileHandle => {
    const write = handle.write.bind(handle) as (
      bytes: Uint8Array,
      from: number,
      length: number,
    ) => Promise<{ bytesWritten: number; buffer: Uint8Array }>;
    const sync = handle.sync.bind(handle);
    return Object.assign(handle, {
      write: async (bytes: Uint8Array, from: number, length: number) => {
        calls.push(`write ${name(path)}`);
        if (failWriteWith) throw Object.assign(new Error('no'), { code: failWriteWith });
        return write(bytes, from, shortWrites ? Math.min(length, 3) : length);
      },
      sync: async () => {
        calls.push(`sync ${name(path)}`);
        return sync();
      },
    });
  };
  return {
    ...real,
    open: async (...all: Parameters<typeof real.open>) => watch(await real.open(...all), all[0]),
    rename: async (from: string, to: string) => {
      calls.push(`rename ${name(from)} ${name(to)}`);
      return real.rename(from, to);
    },
    unlink: async (path: string) => {
      calls.push(`unlink ${name(path)}`);
      return real.unlink(path);
    },
  };
});

let folder = '';
beforeEach(async () => {
  folder = join(await mkdtemp(join(tmpdir(), 'hearth-durable-')));
  calls.length = 0;
  failWriteWith = null;
  shortWrites = false;
});
afterEach(() => rm(folder, { recursive: true, force: true }));

it('syncs the bytes before the rename and the folder after it', async () => {
  await writeDurably(join(folder, 'a.json'), 'text');
  expect(calls).toEqual([
    'write temporary',
    'write temporary',
    'sync temporary',
    'rename temporary a.json',
    `sync ${basename(folder)}`,
  ]);
});

it('syncs the folder after a move and after a removal', async () => {
  await writeDurably(join(folder, 'a'), 'text');
  calls.length = 0;
  await moveDurably(join(folder, 'a'), join(folder, 'b'));
  await removeDurably(join(folder, 'b'));
  expect(calls).toEqual(['rename a b', `sync ${basename(folder)}`, 'unlink b', `sync ${basename(folder)}`]);
});

it('finishes writes that the system cuts short', async () => {
  shortWrites = true;
  await writeDurably(join(folder, 'a'), 'a longer text than one write takes');
  expect(await readFile(join(folder, 'a'), 'utf8')).toBe('a longer text than one write takes');
});

it.each([
  ['ENOSPC', 'disk_full'],
  ['EDQUOT', 'disk_full'],
  ['EROFS', 'store_unwritable'],
  ['EIO', 'store_unwritable'],
])('keeps the old bytes and no temporary file on %s', async (errno, code) => {
  await writeDurably(join(folder, 'a'), 'old');
  failWriteWith = errno;
  await expect(writeDurably(join(folder, 'a'), 'new')).rejects.toMatchObject({ code });
  expect(await readFile(join(folder, 'a'), 'utf8')).toBe('old');
  expect(await readdir(folder)).toEqual(['a']);
});
