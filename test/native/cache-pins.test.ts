/** Pinned prompts: what a chat began with is there again, whatever other conversations brought meanwhile, and after a kill. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Turn } from '../../src/contract/job.ts';
import type { PinnedPrefix } from '../../src/lib/prompt-cache/pin.ts';
import { MEMORY_KINDS } from '../support/memory-kinds.ts';
import { bootWorker, type TestWorker } from '../support/engine/worker-harness.ts';

const KIB = 1024;
const kindOf = (digit: string): string => `${digit.repeat(16)}-${digit.repeat(32)}`;
let home: string;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'hearth-pins-'));
  for (const [kind, write] of MEMORY_KINDS)
    await write(join(home, `${kind}.gguf`), { contextLength: 16_384 });
});
afterAll(() => rm(home, { recursive: true }));

interface Setup {
  readonly model?: string;
  readonly ramBytes?: number;
  /** Of the cache on the disk; absent: none. */
  readonly folder?: string;
  readonly diskBytes?: number;
  readonly kind?: string;
  readonly pins?: PinnedPrefix[];
  readonly isExact?: boolean;
}

async function start({ model = 'whole', folder, pins, isExact, ...more }: Setup): Promise<TestWorker> {
  const { ramBytes = 0, diskBytes = 0, kind = 'a' } = more;
  const worker = await bootWorker();
  const disk =
    folder === undefined
      ? null
      : { folder: join(home, folder), bytes: diskBytes, kind: kindOf(kind), secret: '0'.repeat(64) };
  const promptCache = { ramBytes, disk, ...(pins !== undefined && { pins }) };
  await worker.load({
    path: join(home, `${model}.gguf`),
    numCtx: 2048,
    parallel: 1,
    promptCache,
    draftTokens: 0,
    ...(isExact === true && { settings: { exact: 'on' as const } }),
  });
  return worker;
}

const words = 'the small house and the sea and the stones and the time ';

const turnsOf = (opening: string, said: string): Turn[] => [
  { role: 'system', content: `${opening} ${words.repeat(30)}` },
  { role: 'user', content: said },
];
const promptOf = (opening: string, said: string) => ({
  prompt: { kind: 'chat' as const, turns: turnsOf(opening, said) },
});

/** A chat with a system prompt of its own by `opening`, and what came of its prompt. */
async function chat(worker: TestWorker, opening: string, said: string) {
  const { done } = await worker.generate({ ...promptOf(opening, said), maxTokens: 2 });
  const { promptTokens, cachedTokens } = done.usage;
  return { promptTokens, evaluated: promptTokens - cachedTokens };
}

/** Its last words, the question and the marks around it. */
const REST = 32;

/** Whether a new chat would find the beginning; asking is no use of it. */
async function isHeld(worker: TestWorker, opening: string): Promise<boolean> {
  const { promptTokens, cachedTokens } = await worker.explain(promptOf(opening, 'and now'));
  return promptTokens - cachedTokens < REST;
}

let number = 0;
/** Other conversations, until one that was there is gone: what a slow machine evaluated dearly stays for long. */
async function othersUntilGone(worker: TestWorker, opening: string): Promise<void> {
  for (let at = 0; at < 400; at += 1) {
    if (!(await isHeld(worker, opening))) return;
    await chat(worker, `another one ${(number += 1)}`, 'go');
    await worker.save();
  }
  throw new Error(`${opening} did not give way`);
}

/** What the state of the prefix takes. */
async function pinnedBytes(model: string): Promise<number> {
  const worker = await start({ model, ramBytes: 64 * KIB * KIB });
  await chat(worker, 'mine', 'go');
  const { heldBytes } = await worker.pin();
  await worker.end();
  return heldBytes;
}

describe.each(MEMORY_KINDS.map(([kind]) => kind))('a pinned prompt of a model with a %s memory', (model) => {
  it('stays in memory while another one gives way, until it is unpinned', async () => {
    const bytes = await pinnedBytes(model);
    const worker = await start({ model, ramBytes: 4 * bytes });
    const first = await chat(worker, 'mine', 'go');
    const { pin, heldBytes } = await worker.pin();
    await chat(worker, 'twin', 'go');
    expect(heldBytes).toBe(bytes);
    expect(pin.tokens).toBeGreaterThan(first.promptTokens - REST);
    await othersUntilGone(worker, 'twin');
    expect((await chat(worker, 'mine', 'and now')).evaluated).toBeLessThan(REST);
    await worker.pin({ ends: pin });
    await othersUntilGone(worker, 'mine');
    await worker.end();
  });

  it('stays on the disk after a kill, as long as it is pinned', async () => {
    const bytes = await pinnedBytes(model);
    const setup = { model, folder: `disk ${model}`, ramBytes: 4 * bytes, diskBytes: 6 * bytes };
    const before = await start(setup);
    await chat(before, 'mine', 'go');
    const { pin } = await before.pin();
    await chat(before, 'twin', 'go');
    await before.save();
    await before.kill();

    const pinned = await start({ ...setup, pins: [pin] });
    await othersUntilGone(pinned, 'twin');
    await pinned.kill();
    const after = await start({ ...setup, pins: [pin] });
    expect((await chat(after, 'mine', 'and now')).evaluated).toBeLessThan(REST);
    await after.end();

    const unpinned = await start(setup);
    await othersUntilGone(unpinned, 'mine');
    await unpinned.end();
  });
});

it('stays on the disk while another model fills it', async () => {
  const bytes = await pinnedBytes('whole');
  const setup = { folder: 'models', ramBytes: 4 * bytes, diskBytes: 6 * bytes };
  const mine = await start(setup);
  await chat(mine, 'mine', 'go');
  const { pin } = await mine.pin();
  await chat(mine, 'twin', 'go');
  await mine.save();
  await mine.kill();
  const other = await start({ ...setup, kind: 'b' });
  for (let at = 0; at < 12; at += 1) {
    await chat(other, `another one ${at}`, 'go');
    await other.save();
  }
  await other.end();
  const again = await start({ ...setup, pins: [pin] });
  expect(await isHeld(again, 'twin')).toBe(false);
  expect((await chat(again, 'mine', 'and now')).evaluated).toBeLessThan(REST);
  await again.end();
});

it('is refused where pins would hold more than half of a tier, and stays for no longer then', async () => {
  const bytes = await pinnedBytes('whole');
  const worker = await start({ ramBytes: Math.floor(1.9 * bytes) });
  await chat(worker, 'mine', 'go');
  await expect(worker.pin()).rejects.toMatchObject({ code: 'pin_refused', detail: { reason: 'no_room' } });
  await othersUntilGone(worker, 'mine');
  await worker.end();
});

it('is refused where no chat came, where it has no beginning, and where nothing is kept', async () => {
  const worker = await start({ ramBytes: KIB * KIB });
  const reason = (expected: string) => ({ code: 'pin_refused', detail: { reason: expected } });
  await expect(worker.pin()).rejects.toMatchObject(reason('no_chat'));
  const turns: Turn[] = [{ role: 'user', content: words.repeat(10) }];
  await worker.generate({ prompt: { kind: 'chat', turns }, maxTokens: 2 });
  await expect(worker.pin()).rejects.toMatchObject(reason('no_beginning'));
  await chat(worker, 'mine', 'go');
  await expect(worker.pin({ domain: 'somebody' })).rejects.toMatchObject(reason('no_chat'));
  await worker.end();
  const keepsNothing = await start({});
  await chat(keepsNothing, 'mine', 'go');
  await expect(keepsNothing.pin()).rejects.toMatchObject(reason('no_cache'));
  await keepsNothing.end();
  const inSlots = await start({ model: 'sliding window', ramBytes: KIB * KIB, isExact: true });
  await chat(inSlots, 'mine', 'go');
  await expect(inSlots.pin()).rejects.toMatchObject(reason('in_slots'));
  await inSlots.end();
});
