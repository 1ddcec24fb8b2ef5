/**
 * Changes of the store that end at a random moment: by SIGKILL within the window of their writes, or by a disk that is full
 * or from then on read-only.
 * Whatever happened, every model that is listed has its bytes, no blob holds others than its name says, and the next
 * change succeeds.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll } from 'vitest';
import { writeTinyChat } from '../../../tools/models/tiny-chat.ts';
import { commandNames, runCommand, type StoreWorld } from '../../fault/store/drivers/store-commands.ts';
import { bundleScript } from '../../support/process/bundle.ts';
import { hearth } from '../../support/process/hearth.ts';
import { type Book, inLanes, pick, type Round, scenario } from '../campaign.ts';
import { whyBroken } from './store-state.ts';

/** Without a hub: what pulls survive is a test of its own. */
const COMMANDS = commandNames.filter((name) => name !== 'pull' && name !== 'rm-pulled');
let script: Awaited<ReturnType<typeof bundleScript>>;
let folder: string;
/** Most of a kill is waiting for the disk and for the start of the process that is killed, so many are killed at once. */
const HOMES = 8;
let worlds: readonly StoreWorld[];
beforeAll(async () => {
  script = await bundleScript(new URL('../../fault/store/drivers/store-victim.ts', import.meta.url));
  folder = await mkdtemp(path.join(tmpdir(), 'hearth-campaign-'));
  const files: [string, string] = [path.join(folder, 'a.gguf'), path.join(folder, 'b.gguf')];
  for (const [index, file] of files.entries()) await writeTinyChat(file, { seed: index + 1 });
  worlds = Array.from({ length: HOMES }, (_, index) => ({
    home: path.join(folder, `home-${index}`),
    files,
    endpoint: '',
    cdnHost: '',
  }));
});
afterAll(async () => {
  await script.remove();
  await rm(folder, { recursive: true, force: true });
});

scenario('store', async (round) => {
  const { seed, random, book } = round;
  if (random.below(12) === 0) return fullDisk(seed, 300 + random.below(900), book);
  await inLanes(round, worlds, killWithin);
});

async function killWithin(world: StoreWorld, { seed, random, book }: Round): Promise<void> {
  const commands = Array.from({ length: 20 }, () => pick(random, COMMANDS));
  const after = pick(random, COMMANDS);
  const waitMs = (random.below(1000) / 1000) ** 2 * 200;
  const child = await victim(world, commands);
  // A quick machine is done with every command before the kill.
  const ended = child.exitCode === null ? once(child, 'close') : Promise.resolve();
  await delay(waitMs);
  child.kill('SIGKILL');
  await ended;
  book.count(child.signalCode === 'SIGKILL' ? 'kills' : 'changes that were done before the kill');
  if (child.signalCode === null && child.exitCode !== 0)
    book.found(seed, `changes failed with ${child.exitCode}: ${commands.join(' ')}`);
  const problem = await whyBroken(world.home);
  if (problem !== null) book.found(seed, `${problem} after a kill in ${commands.join(' ')}`);
  await runCommand(after, world);
}

async function victim(world: StoreWorld, commands: readonly string[]): Promise<ChildProcess> {
  const plan = JSON.stringify({ world, commands });
  const child = spawn(process.execPath, [script.path, plan], { stdio: ['pipe', 'pipe', 'ignore'] });
  await new Promise<void>((resolve) => {
    child.stdout.on('data', (part: Buffer) => {
      if (part.toString().includes('ready')) resolve();
    });
    child.once('close', () => resolve());
  });
  child.stdin.on('error', () => {});
  child.stdin.write('go\n');
  return child;
}

/** A home on a file system of its own that ends somewhere in the middle. */
async function fullDisk(seed: number, sizeKib: number, book: Book): Promise<void> {
  const home = path.join(folder, 'small');
  await mkdir(home, { recursive: true });
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${sizeKib}k`, 'tmpfs', home], { stdio: 'pipe' });
  } catch {
    return book.count('full disks left out: nothing can be mounted here');
  }
  try {
    const isFrozen = seed % 2 === 0;
    for (const file of worlds[0]?.files ?? []) {
      const importing = hearth(['import', '--copy', '--no-probe', file], { SVC_HOME: home });
      if (isFrozen) {
        await delay(seed % 700);
        remount(home, 'ro');
      }
      const { stderr } = await importing;
      if (/^\s+at /m.test(stderr))
        book.found(seed, `a stack trace on a disk of ${sizeKib} KiB: ${stderr.slice(0, 300)}`);
      if (isFrozen) remount(home, 'rw');
    }
    if (isFrozen) book.count('disks that became read-only');
    const problem = await whyBroken(home);
    if (problem !== null) book.found(seed, `${problem} on a disk of ${sizeKib} KiB`);
    book.count('full disks');
  } finally {
    execFileSync('umount', ['-l', home]);
  }
}

/** A disk in use cannot become read-only; then the change is done before. */
function remount(home: string, how: 'ro' | 'rw'): void {
  try {
    execFileSync('mount', ['-o', `remount,${how}`, home], { stdio: 'pipe' });
  } catch {
    // Busy.
  }
}
