/** State of prompts beside the sequences: found again after another conversation and after a kill, or not used at all. */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeTinyChat } from '../../tools/models/tiny-chat.ts';
import { writeTinyRecurrent, writeTinySlidingWindow } from '../../tools/models/tiny-variants.ts';
import type { GenerateJob } from '../../src/contract/job.ts';
import type { LoadSpec } from '../../src/contract/load.ts';
import { bootWorker, type TestWorker } from '../support/engine/worker-harness.ts';

let home: string;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'hearth-prompt-cache-'));
  await writeTinyChat(join(home, 'whole.gguf'));
  await writeTinySlidingWindow(join(home, 'sliding window.gguf'));
  await writeTinyRecurrent(join(home, 'recurrent.gguf'));
});

afterAll(() => rm(home, { recursive: true }));

const MIB = 1024 * 1024;

const kindOf = (digit: string): string => `${digit.repeat(16)}-${digit.repeat(32)}`;

interface Setup {
  readonly model?: string;
  /** Of the cache on the disk; each test has its own. */
  readonly folder: string;
  readonly load?: Partial<LoadSpec>;
  readonly kind?: string;
  readonly secret?: string;
}

async function start({
  model = 'whole',
  folder,
  load,
  kind = 'a',
  secret = '0',
}: Setup): Promise<TestWorker> {
  const worker = await bootWorker();
  const disk = {
    folder: join(home, folder),
    bytes: 64 * MIB,
    kind: kindOf(kind),
    secret: secret.repeat(64),
  };
  await worker.load({
    path: join(home, `${model}.gguf`),
    numCtx: 1024,
    parallel: 1,
    promptCache: { ramBytes: 64 * MIB, disk },
    ...load,
  });
  return worker;
}

const story = 'tell me about the small house and the sea and the time '.repeat(12);
const ask = (text: string, domain?: string) => ({
  prompt: { kind: 'text' as const, text },
  maxTokens: 12,
  sampling: { temperature: 0, seed: 1 },
  ...(domain === undefined ? {} : { domain }),
});

/** What an answer says, and how its prompt was found. */
async function answer(worker: TestWorker, text: string, domain?: string) {
  const { done, text: said } = await worker.generate(ask(text, domain));
  return { said, cache: done.cache, usage: done.usage };
}

describe('a conversation that another one took the slot of', () => {
  it('comes back from memory, says the same, and is shared with nobody else', async () => {
    const worker = await start({
      folder: 'memory',
      load: { promptCache: { ramBytes: 64 * MIB, disk: null } },
    });
    const cold = await answer(worker, `${story} one`);
    expect(cold.cache).toMatchObject({
      slotTokens: 0,
      ramTokens: 0,
      diskTokens: 0,
      miss: { reason: 'cold' },
    });
    const other = (): ReturnType<typeof answer> => answer(worker, 'quite another thing '.repeat(20));
    const others = [await other()];
    const warm = await answer(worker, `${story} one`);
    expect(warm.cache?.ramTokens).toBe(warm.usage.promptTokens - 1);
    expect(warm.said).toBe(cold.said);
    // A branch shares all but its own end, to the token.
    others.push(await other());
    const branch = await answer(worker, `${story} two`);
    expect(branch.usage.promptTokens - (branch.cache?.ramTokens ?? 0)).toBeLessThan(8);
    others.push(await other());
    const stranger = await answer(worker, `${story} one`, 'stranger');
    expect(stranger.usage.cachedTokens).toBe(0);
    expect(stranger.said).toBe(cold.said);
    // It tells the server some time later, and not with each of these.
    const restored = [warm, branch, ...others].map(({ cache }) => cache?.ramTokens ?? 0);
    await expect.poll(() => worker.cacheTiers?.slotEvictions).toBe(6);
    expect(worker.cacheTiers).toMatchObject({ restores: 4, disk: null, ram: { limitBytes: 64 * MIB } });
    expect(worker.cacheTiers?.ram?.restoredTokens).toBe(restored.reduce((sum, tokens) => sum + tokens));
    await worker.end();
  });
});

describe.each(['whole', 'sliding window', 'recurrent'])('a %s memory', (model) => {
  it('outlives a kill on the disk', async () => {
    const setup = { model, folder: `kill ${model}` };
    const before = await start(setup);
    const first = await answer(before, story);
    await before.save();
    await before.kill();
    const after = await start(setup);
    const more = `${story}${first.said} and then`;
    const { cache, usage, said } = await answer(after, more);
    await after.end();
    expect(cache?.diskTokens).toBeGreaterThan(100);
    expect(usage.promptTokens - usage.cachedTokens).toBeLessThan(16);
    const plain = await start({ model, folder: 'none', load: { promptCache: { ramBytes: 0, disk: null } } });
    await answer(plain, story);
    expect(said).toBe((await answer(plain, more)).said);
    await plain.end();
  });
});

describe('state on the disk, and another plan', () => {
  it.each([
    ['whole', 'window', { numCtx: 2048 }],
    ['whole', 'number of slots', { parallel: 3, cells: 3072 }],
    // Restored part by part, beside what others hold.
    ['whole', 'way of holding cells', { parallel: 3, cells: 1024 }],
    ['sliding window', 'window', { numCtx: 2048 }],
    ['recurrent', 'window', { numCtx: 2048 }],
  ])('is found by a %s memory with another %s', async (model, what, load) => {
    const setup = { model, folder: `${what} ${model}` };
    const before = await start(setup);
    const first = await answer(before, story);
    await before.save();
    await before.kill();
    const after = await start({ ...setup, load });
    const { cache, usage, said } = await answer(after, `${story}${first.said} and then`);
    await after.end();
    expect(cache?.diskTokens).toBeGreaterThan(100);
    expect(usage.promptTokens - usage.cachedTokens).toBeLessThan(16);
    const plain = await start({
      model,
      folder: 'none',
      load: { ...load, promptCache: { ramBytes: 0, disk: null } },
    });
    expect(said).toBe((await answer(plain, `${story}${first.said} and then`)).said);
    await plain.end();
  });
});

const system = { role: 'system' as const, content: story };
const chat = (content: string) => ({
  prompt: { kind: 'chat' as const, turns: [system, { role: 'user' as const, content }] },
  maxTokens: 6,
  sampling: { temperature: 0, seed: 1 },
});

// Memory that cannot be cut has its own state at the end of what conversations share.
describe.each(['whole', 'sliding window', 'recurrent'])('a system prompt, %s memory', (model) => {
  it('is read once for all conversations', async () => {
    const worker = await start({
      model,
      folder: 'none',
      load: { promptCache: { ramBytes: 64 * MIB, disk: null } },
    });
    const cold = await worker.generate(chat('what is the time?'));
    await worker.generate(ask('quite another thing '.repeat(20)));
    const { done } = await worker.generate(chat('where is the sea? Far away, or near?'));
    expect(done.cache?.ramTokens).toBeGreaterThan(100);
    expect(done.usage.promptTokens - done.usage.cachedTokens).toBeLessThan(40);
    const again = await worker.generate(chat('what is the time?'));
    expect(again.text).toBe(cold.text);
    await worker.end();
  });

  it('is found for a new conversation while the slot holds one that was restored beyond its end', async () => {
    const setup = { model, folder: `beyond ${model}` };
    // So long that its end has a state of its own, which is what the conversation is taken up from.
    const { prompt, ...rest } = chat('what is the time, and where is the sea? '.repeat(3));
    const before = await start(setup);
    const first = await before.generate({ ...rest, prompt });
    await before.save();
    await before.kill();
    const after = await start(setup);
    const answered = { role: 'assistant' as const, content: first.text };
    const next = { role: 'user' as const, content: 'And now?' };
    const second = await after.generate({
      ...rest,
      prompt: { ...prompt, turns: [...prompt.turns, answered, next] },
    });
    expect(second.done.cache?.diskTokens).toBeGreaterThanOrEqual(first.done.usage.promptTokens - 1);
    const { done } = await after.generate(chat('where is the sea?'));
    expect(done.usage.promptTokens - done.usage.cachedTokens).toBeLessThan(40);
    await after.end();
  });
});

describe('state on the disk', () => {
  it.each<[string, Partial<Setup>]>([
    ['of another engine, model or window', { kind: 'b' }],
    ['of another home', { secret: '1' }],
  ])('%s is not used', async (name, other) => {
    const folder = `other ${name.length}`;
    const before = await start({ folder });
    await answer(before, story);
    await before.save();
    await before.kill();
    const after = await start({ folder, ...other });
    expect((await answer(after, story)).cache).toMatchObject({ diskTokens: 0, miss: { reason: 'cold' } });
    await after.end();
  });

  it('that is damaged is not used, and the answer is the same', async () => {
    const folder = 'damaged';
    const before = await start({ folder });
    const { said } = await answer(before, story);
    await before.save();
    await before.kill();
    const files = join(home, folder, kindOf('a'));
    for (const name of await readdir(files)) {
      const bytes = await readFile(join(files, name));
      const place = bytes.length - 100;
      bytes[place] = (bytes[place] ?? 0) ^ 4;
      await writeFile(join(files, name), bytes);
    }
    const after = await start({ folder });
    const again = await answer(after, story);
    expect(again.cache?.miss?.reason).toBe('damaged');
    expect(again.said).toBe(said);
    expect((await answer(after, `${story} more`)).cache?.slotTokens).toBeGreaterThan(100);
    await after.end();
  });
});

it('a frozen answer takes no state from the cache and leaves none in it', async () => {
  const frozen: Partial<GenerateJob> = {
    prompt: { kind: 'chat', turns: [{ role: 'user', content: story }] },
    maxTokens: 8,
    sampling: { temperature: 0, seed: 7 },
    templateClockMs: 1_790_000_000_000,
    lane: 'frozen',
  };
  const first = await start({ folder: 'frozen' });
  const alone = await first.generate(frozen);
  await first.save();
  await first.kill();
  expect(await readdir(join(home, 'frozen', kindOf('a')))).toEqual([]);
  const before = await start({ folder: 'frozen' });
  // The same prompt, evaluated in the ordinary way.
  await before.generate({ ...frozen, lane: 'shared' });
  await before.save();
  await before.kill();
  const after = await start({ folder: 'frozen' });
  const again = await after.generate(frozen);
  expect(again.events[0]).toMatchObject({ type: 'started', cachedTokens: 0 });
  expect(again.done.frozen?.output).toEqual(alone.done.frozen?.output);
  const ordinary = await after.generate({ ...frozen, lane: 'shared' });
  expect(ordinary.done.cache?.diskTokens).toBeGreaterThan(100);
  await after.end();
});
