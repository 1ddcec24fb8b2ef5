/**
 * A store is killed at every step of every change, and at random times; after each death it must be whole:
 * I1 what was acknowledged is there, I2 every model has its bytes, I3 every manifest parses, I4 nothing of the dead
 * is left after the next command, I5 no blob holds other bytes than its name says. And the next command succeeds.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hashFile } from '../../../src/lib/files/plain-file.ts';
import { openRegistry } from '../../../src/store/registry/registry.ts';
import { bundleScript } from '../../support/process/bundle.ts';
import { startFakeHub } from '../../support/hub/fake-hub.ts';
import { chatBytes, temporaryFolder, writeChat } from '../../support/temp-home.ts';
import {
  type CommandName,
  commandNames,
  PULLED_ID,
  runCommand,
  type StoreWorld,
} from './drivers/store-commands.ts';

const isLong = process.env['SVC_LONG_TESTS'] === '1';
const RANDOM_KILLS = isLong ? 600 : 30;

let script: Awaited<ReturnType<typeof bundleScript>>;
beforeAll(async () => {
  script = await bundleScript(new URL('./drivers/store-victim.ts', import.meta.url));
});
afterAll(() => script.remove());

async function makeWorld(): Promise<StoreWorld> {
  const files = await temporaryFolder();
  const hub = await startFakeHub({ 'Tiny-Q4_0.gguf': chatBytes(3) });
  return {
    home: await temporaryFolder(),
    files: [await writeChat(files, 'a.gguf', 1), await writeChat(files, 'b.gguf', 2)],
    endpoint: hub.endpoint,
    cdnHost: new URL(hub.cdn).host,
  };
}

/** What must be true between any two commands, whoever died before. */
async function expectWhole(world: StoreWorld, context: string): Promise<void> {
  const registry = openRegistry({ home: world.home });
  expect(await registry.damaged(), context).toEqual([]);
  for (const model of await registry.list()) await registry.toTarget(model).source.verify();
  const { blobs } = registry.store.paths;
  for (const name of await readdir(blobs).catch(() => []))
    expect(`sha256-${await hashFile(join(blobs, name))}`, context).toBe(name);
}

/** After the next change nothing of a dead process may be left. */
async function expectNoLeftovers(world: StoreWorld, context: string): Promise<void> {
  await runCommand('prune', world);
  const { root, manifests, partial } = openRegistry({ home: world.home }).store.paths;
  const names = [...(await readdir(root)), ...(await readdir(manifests)), ...(await readdir(partial))];
  const leftovers = names.filter((name) => /tmp-|\.lock|^\./.test(name));
  expect(leftovers, context).toEqual([]);
}

/** Whether the model was copied; an upgrade gives it a file that lies elsewhere. */
async function ownsFile(world: StoreWorld, id: string): Promise<boolean> {
  const [file] = (await openRegistry({ home: world.home }).find(id)).files;
  return file !== undefined && 'digest' in file;
}

interface Victim {
  readonly child: ChildProcess;
  /** Commands that it said were done. */
  readonly done: () => string[];
  go(): void;
  readonly ended: Promise<void>;
}

async function startVictim(plan: object): Promise<Victim> {
  const child = spawn(process.execPath, [script.path, JSON.stringify(plan)], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let out = '';
  let complaint = '';
  child.stderr.on('data', (part: Buffer) => {
    complaint += part.toString();
  });
  const ready = new Promise<void>((resolve) => {
    child.stdout.on('data', (part: Buffer) => {
      out += part.toString();
      if (out.includes('ready')) resolve();
    });
  });
  const ended = once(child, 'close').then(([code, signal]) => {
    if (signal !== 'SIGKILL' && code !== 0) throw new Error(`the victim failed by itself: ${complaint}`);
  });
  await Promise.race([ready, ended]);
  return {
    child,
    done: () => [...out.matchAll(/^done (.*)$/gm)].map(([, name = '']) => name),
    go: () => child.stdin.write('go\n'),
    ended,
  };
}

/** The steps that a command passes, with the occurrences worth dying at: the first two and the last. */
async function stepsOf(
  name: CommandName,
  world: StoreWorld,
): Promise<{ step: string; occurrence: number }[]> {
  const counts = new Map<string, number>();
  await runCommand(name, world, (step) => {
    counts.set(step, (counts.get(step) ?? 0) + 1);
  });
  return [...counts].flatMap(([step, count]) =>
    [...new Set([1, 2, count])]
      .filter((occurrence) => occurrence <= count)
      .map((occurrence) => ({ step, occurrence })),
  );
}

const ids: Partial<Record<CommandName, string>> = {
  'import-copy': 'one',
  'import-copy-again': 'two',
  'import-reference': 'three',
  pull: PULLED_ID,
};

describe('a kill', () => {
  it.each<readonly [CommandName, readonly CommandName[], readonly CommandName[]]>([
    ['import-copy', [], ['rm']],
    ['pull', [], ['rm-pulled']],
    ['set', ['import-copy'], []],
    ['default', ['import-copy'], []],
    ['rm', ['import-copy'], ['import-copy']],
    ['upgrade', ['import-copy', 'import-reference'], ['rollback']],
    ['rollback', ['import-copy', 'import-reference', 'upgrade'], ['upgrade']],
  ])('at every step of %s leaves a whole store', async (name, before, after) => {
    const world = await makeWorld();
    for (const command of before) await runCommand(command, world);
    const steps = await stepsOf(name, world);
    for (const command of after) await runCommand(command, world);
    expect(steps.length).toBeGreaterThan(4);
    const start = (killAt: object) => startVictim({ world, commands: [name], killAt });
    let next = start(steps[0]!);
    for (const [position, killAt] of steps.entries()) {
      const context = `${name} killed at ${killAt.step} (${killAt.occurrence})`;
      const victim = await next;
      victim.go();
      await victim.ended;
      expect(victim.child.signalCode, context).toBe('SIGKILL');
      const following = steps[position + 1];
      // The next process starts while this death is looked into.
      if (following) next = start(following);
      await expectWhole(world, context);
      await runCommand(name, world);
      await expectWhole(world, `${context}, repeated`);
      await expectNoLeftovers(world, context);
      const id = ids[name];
      const installed = (await openRegistry({ home: world.home }).list()).map((model) => model.id);
      if (id !== undefined) expect(installed, context).toContain(id);
      if (name === 'rm') expect(installed, context).toEqual([]);
      if (name === 'upgrade') expect(await ownsFile(world, 'one'), context).toBe(false);
      if (name === 'rollback') expect(await ownsFile(world, 'one'), context).toBe(true);
      for (const command of after) await runCommand(command, world);
      if (name === 'upgrade') expect(await ownsFile(world, 'one'), `${context}, undone`).toBe(true);
    }
  });

  it(
    `at ${RANDOM_KILLS} random moments leaves a whole store that keeps what was acknowledged`,
    async () => {
      let world = await makeWorld();
      let expected = new Set<string>();
      let interrupted = 0;
      const plan = () => ({ world, commands: Array.from({ length: 40 }, () => pick(commandNames)) });
      let current = plan();
      let next = startVictim(current);
      for (let kill = 0; kill < RANDOM_KILLS; kill += 1) {
        const victim = await next;
        victim.go();
        await delay(Math.random() ** 2 * 250);
        victim.child.kill('SIGKILL');
        await victim.ended;
        const done = victim.done() as CommandName[];
        const inFlight = current.commands[done.length];
        if (inFlight !== undefined) interrupted += 1;
        const context = `kill ${kill} in ${inFlight} after ${done.join(' ') || 'nothing'}`;
        await expectWhole(world, context);
        expected = apply(expected, done);
        const now = new Set((await openRegistry({ home: world.home }).list()).map((model) => model.id));
        const either = inFlight === undefined ? expected : apply(expected, [inFlight]);
        expect([[...expected].sort(), [...either].sort()], context).toContainEqual([...now].sort());
        expected = now;
        if (kill % 20 === 19) {
          world = await makeWorld();
          expected = new Set();
        }
        current = plan();
        next = startVictim(current);
        if (kill % 20 === 19) continue;
        const command = pick(commandNames);
        await runCommand(command, world);
        expected = apply(expected, [command]);
        if (kill % 5 === 0) await expectNoLeftovers(world, `${context}, then ${command}`);
      }
      const last = await next;
      last.child.kill('SIGKILL');
      await last.ended;
      // A loop that never interrupts anything would prove nothing.
      expect(interrupted).toBeGreaterThan(RANDOM_KILLS / 4);
    },
    isLong ? 1_200_000 : 600_000,
  );
});

function pick<T>(items: readonly T[]): T {
  return items[Math.floor(Math.random() * items.length)]!;
}

/** Which models are installed after the commands. */
function apply(before: ReadonlySet<string>, commands: readonly CommandName[]): Set<string> {
  const after = new Set(before);
  for (const name of commands) {
    const added = ids[name];
    if (added !== undefined) after.add(added);
    if (name === 'copy' && after.has('one')) after.add('copy');
    if (name === 'rm') after.delete('one');
    if (name === 'rm-other') after.delete('two');
    if (name === 'rm-pulled') after.delete(PULLED_ID);
  }
  return after;
}
