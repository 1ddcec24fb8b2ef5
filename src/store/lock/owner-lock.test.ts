import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { lockHolder, takeLock } from './owner-lock.ts';
import { ownIdentity } from './process-identity.ts';
import { prune } from '../install/changes.ts';
import { temporaryFolder, temporaryRegistry } from '../../../test/support/temp-home.ts';

const options = { purpose: 'hearth test', what: 'The model store', waitMs: 0 };

async function deadPid(): Promise<number> {
  const child = spawn(process.execPath, ['-e', '0']);
  await once(child, 'exit');
  return child.pid ?? 0;
}

async function writeRecord(path: string, changes: object): Promise<void> {
  await writeFile(
    path,
    JSON.stringify({
      ...ownIdentity(),
      lifeLine: null,
      purpose: 'hearth pull x',
      since: '2026-01-01T00:00:00Z',
      token: 't',
      ...changes,
    }),
  );
}

describe('the writer lock', () => {
  it('has one holder, whom the refusal names', async () => {
    const path = join(await temporaryFolder(), 'writer.lock');
    const lock = await takeLock(path, options);
    await expect(takeLock(path, options)).rejects.toThrow(
      `The model store is in use by another process (hearth test, process ${process.pid}, since`,
    );
    await lock.release();
    expect(await lockHolder(path)).toBeNull();
    await (await takeLock(path, options)).release();
    expect(await readdir(join(path, '..'))).toEqual([]);
  });

  it('is won by exactly one of fifty that start together', async () => {
    const path = join(await temporaryFolder(), 'writer.lock');
    const outcomes = await Promise.allSettled(Array.from({ length: 50 }, () => takeLock(path, options)));
    expect(outcomes.filter((outcome) => outcome.status === 'fulfilled')).toHaveLength(1);
  });

  it('is won by exactly one of fifty that find a dead holder together, and they leave nothing behind', async () => {
    const folder = await temporaryFolder();
    const path = join(folder, 'writer.lock');
    await writeRecord(path, { pid: await deadPid() });
    const outcomes = await Promise.allSettled(Array.from({ length: 50 }, () => takeLock(path, options)));
    const won = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
    expect(won).toHaveLength(1);
    expect(await readdir(folder)).toEqual(['writer.lock']);
    await won[0]?.release();
    expect(await readdir(folder)).toEqual([]);
  });

  it('passes on where the process that was about to replace a dead holder died as well', async () => {
    const folder = await temporaryFolder();
    const path = join(folder, 'writer.lock');
    const pid = await deadPid();
    await writeRecord(path, { pid });
    await writeRecord(`${path}.after-t`, { pid, token: 'second' });
    await (await takeLock(path, options)).release();
    expect(await readdir(folder)).toEqual([]);
  });

  it('is handed on in turn to all that wait', async () => {
    const path = join(await temporaryFolder(), 'writer.lock');
    let inside = 0;
    await Promise.all(
      Array.from({ length: 10 }, async () => {
        const lock = await takeLock(path, { ...options, waitMs: 20_000 });
        inside += 1;
        expect(inside).toBe(1);
        inside -= 1;
        await lock.release();
      }),
    );
  });

  it.each([
    ['died', async () => ({ pid: await deadPid() })],
    ['had the process id of a later process', async () => ({ startTicks: '1' })],
    ['ran before the last start of this machine', async () => ({ bootId: 'earlier' })],
  ])('passes on at once from a holder that %s', async (_name, changes) => {
    const path = join(await temporaryFolder(), 'writer.lock');
    await writeRecord(path, await changes());
    await (await takeLock(path, options)).release();
  });

  it('respects a holder in another container while it shows signs of life', async () => {
    const path = join(await temporaryFolder(), 'writer.lock');
    await writeRecord(path, { pidNamespace: 'pid:[1]', pid: await deadPid() });
    await expect(takeLock(path, options)).rejects.toThrow(`on ${hostname()}`);
    await utimes(path, 1, 1);
    await (await takeLock(path, options)).release();
  });

  it('is free after a power cut left its record empty', async () => {
    const path = join(await temporaryFolder(), 'writer.lock');
    await writeFile(path, '');
    // It may be a record that is just being written, for a moment.
    await expect(takeLock(path, options)).rejects.toThrow('a process that is just taking it');
    await utimes(path, 1, 1);
    await (await takeLock(path, options)).release();
  });
});

describe('pruning', () => {
  it('removes what nothing needs and leaves what is in work', async () => {
    const registry = await temporaryRegistry();
    const { partial, blobs } = registry.store.paths;
    await registry.store.prepareFolders();
    const [idle, busy, orphan] = ['a', 'b', 'c'].map((digit) => digit.repeat(64));
    await writeFile(join(partial, `sha256-${idle}.part`), 'abandoned');
    await writeFile(join(partial, `sha256-${busy}.part`), 'in work');
    await writeFile(join(blobs, `sha256-${orphan}`), 'orphan');
    await writeFile(join(partial, `.x.tmp-${await deadPid()}-${'0'.repeat(12)}`), 'x');
    await writeFile(join(partial, `.x.tmp-${process.pid}-${'0'.repeat(12)}`), 'live');
    const lock = await takeLock(join(partial, `sha256-${busy}.lock`), options);
    expect(await prune(registry)).toEqual({ freedBytes: 15, removedBlobs: [orphan], blockedBy: [] });
    expect((await readdir(partial)).sort()).toEqual([
      `.x.tmp-${process.pid}-${'0'.repeat(12)}`,
      `sha256-${busy}.lock`,
      `sha256-${busy}.part`,
    ]);
    await lock.release();
  });

  it('removes no blob while a damaged manifest may need it', async () => {
    const registry = await temporaryRegistry();
    await registry.store.prepareFolders();
    await writeFile(join(registry.store.paths.blobs, `sha256-${'c'.repeat(64)}`), 'x');
    await writeFile(join(registry.store.paths.manifests, 'broken.json'), '{');
    expect(await prune(registry)).toMatchObject({ removedBlobs: [], blockedBy: ['broken'] });
  });

  it('also happens to the leavings of dead processes when a server starts', async () => {
    const registry = await temporaryRegistry();
    await registry.store.prepareFolders();
    const { manifests, partial } = registry.store.paths;
    const name = `.x.json.tmp-${await deadPid()}-${'0'.repeat(12)}`;
    for (const folder of [manifests, partial]) await writeFile(join(folder, name), 'half');
    await registry.recover();
    expect([...(await readdir(manifests)), ...(await readdir(partial))]).toEqual([]);
  });

  it('clears lock records of dead pulls', async () => {
    const registry = await temporaryRegistry();
    await registry.store.prepareFolders();
    const { partial } = registry.store.paths;
    await writeRecord(join(partial, `sha256-${'d'.repeat(64)}.lock`), { pid: await deadPid() });
    await mkdir(join(partial, 'unrelated'));
    await prune(registry);
    expect(await readdir(partial)).toEqual(['unrelated']);
  });
});
