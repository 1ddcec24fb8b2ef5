import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../../../test/support/temp-home.ts';
import { RunQueue } from './run-queue.ts';

it('tells by how much the thread that waited longest has waited since the last look', async () => {
  const proc = await temporaryFolder();
  const thread = (id: number, waitedMs: number): void => {
    const folder = path.join(proc, '7', 'task', String(id));
    mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, 'schedstat'), `123456789 ${waitedMs * 1e6} 42\n`);
  };
  thread(7, 1_000);
  thread(8, 90_000);
  const queue = new RunQueue(7, proc);
  expect(await queue.heldUpMs()).toBe(0);
  thread(7, 1_400);
  thread(8, 90_100);
  // One that is new has waited before anybody looked.
  thread(9, 5_000);
  expect(await queue.heldUpMs()).toBe(400);
  expect(await queue.heldUpMs()).toBe(0);
});

it('tells nothing of a process that is gone', async () => {
  const queue = new RunQueue(2 ** 30);
  expect([await queue.heldUpMs(), await queue.heldUpMs()]).toEqual([0, 0]);
});

it.skipIf(process.platform !== 'linux')('sees that programs take the cores from each other', async () => {
  const hogs = Array.from({ length: availableParallelism() + 1 }, () =>
    spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }),
  );
  onTestFinished(() => hogs.forEach((hog) => hog.kill('SIGKILL')));
  const queues = hogs.map(({ pid = 0 }) => new RunQueue(pid));
  const mostMs = async () => Math.max(...(await Promise.all(queues.map((queue) => queue.heldUpMs()))));
  await expect.poll(mostMs, { timeout: 60_000 }).toBeGreaterThan(0);
});
