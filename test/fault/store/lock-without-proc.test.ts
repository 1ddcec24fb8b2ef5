/** A lock where no /proc tells processes of one id apart, as on macOS and Windows: the holder's socket decides. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { bundleScript } from '../../support/process/bundle.ts';
import { leftOut } from '../../support/left-out.ts';
import { endProcess } from '../../support/process/hearth.ts';
import { temporaryFolder } from '../../support/temp-home.ts';

/** In a mount namespace of its own, which an ordinary user may have in a user namespace only. */
const HIDDEN = ['mount -t tmpfs tmpfs /proc && exec "$@"', 'sh'];
const namespace = process.geteuid?.() === 0 ? ['-m'] : ['-rm'];
const canHide = spawnSync('unshare', [...namespace, 'sh', '-c', ...HIDDEN, 'true']).status === 0;
const command = (args: readonly string[]) =>
  process.platform === 'linux' ? ['unshare', ...namespace, 'sh', '-c', ...HIDDEN, ...args] : [...args];
const canRun = process.platform !== 'linux' || canHide;
const why = leftOut(canRun, '/proc cannot be hidden from a process here');

let script: Awaited<ReturnType<typeof bundleScript>>;
beforeAll(async () => {
  script = await bundleScript(new URL('./drivers/lock-holder.ts', import.meta.url));
});
afterAll(() => script.remove());

interface Taker {
  readonly child: ChildProcess;
  readonly ended: Promise<unknown>;
  /** Who had the lock before, and what came of the try. */
  readonly said: readonly [string, string];
}

async function take(lock: string): Promise<Taker> {
  const [program = '', ...args] = command([process.execPath, script.path, lock]);
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  onTestFinished(() => endProcess(child, 'SIGKILL'));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const line = async () => String((await lines.next()).value);
  return { child, ended, said: [await line(), await line()] };
}

it.runIf(canRun)(`is held while its holder runs, who is named${why}`, async () => {
  const lock = path.join(await temporaryFolder(), 'serve.lock');
  const holder = await take(lock);
  expect(holder.said).toEqual(['before: nobody', 'held']);
  const { pid, startTicks } = JSON.parse(await readFile(lock, 'utf8'));
  expect(startTicks).toBeNull();
  const refused = await take(lock);
  expect(refused.said).toEqual([
    `before: ${pid}`,
    expect.stringContaining(`The home is in use by another process (hearth test, process ${pid}, since`),
  ]);
  holder.child.stdin?.end();
  await holder.ended;
  expect(await readdir(path.dirname(lock))).toEqual([]);
});

it.runIf(canRun)(`is free once its holder was killed, even if its pid is in use again${why}`, async () => {
  const lock = path.join(await temporaryFolder(), 'serve.lock');
  const holder = await take(lock);
  await endProcess(holder.child, 'SIGKILL');
  const record = JSON.parse(await readFile(lock, 'utf8'));
  await writeFile(lock, JSON.stringify({ ...record, pid: process.pid }));
  expect((await take(lock)).said).toEqual(['before: nobody', 'held']);
});

it.runIf(canRun)(`is held by a live process that has a socket, whatever its pid says${why}`, async () => {
  const lock = path.join(await temporaryFolder(), 'serve.lock');
  await take(lock);
  const record = JSON.parse(await readFile(lock, 'utf8'));
  await writeFile(lock, JSON.stringify({ ...record, pid: process.pid }));
  expect((await take(lock)).said).toEqual([
    `before: ${process.pid}`,
    expect.stringContaining('is in use by another process'),
  ]);
});
