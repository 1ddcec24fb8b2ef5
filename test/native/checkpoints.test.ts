import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bootWorker, type TestWorker } from '../support/engine/worker-harness.ts';
import { writeTinyChat } from '../../tools/models/tiny-chat.ts';
import { writeTinyRecurrent, writeTinySlidingWindow } from '../../tools/models/tiny-variants.ts';
import type { Turn } from '../../src/contract/job.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hearth-checkpoints-'));
});

afterAll(async () => {
  await rm(folder, { recursive: true });
});

const user = (content: string): Turn => ({ role: 'user', content });
const system: Turn = { role: 'system', content: 'the sea and the stones and the time '.repeat(6) };

// The premise of all that follows: these models do lose their past.
it.each([
  ['whole', writeTinyChat, true],
  ['sliding window', writeTinySlidingWindow, false],
  ['recurrent', writeTinyRecurrent, false],
] as const)(
  'a %s memory either keeps a shared turn far behind its end or loses it',
  async (name, write, keeps) => {
    const path = join(folder, `premise ${name}.gguf`);
    await write(path);
    const worker = await bootWorker();
    await worker.load({ path, numCtx: 1024, parallel: 2 });
    const long = [system, user('tell me about the small house and the time '.repeat(20))];
    await worker.generate({ prompt: { kind: 'chat', turns: long }, maxTokens: 40 });
    await worker.generate({ prompt: { kind: 'chat', turns: [user('quite another thing')] }, maxTokens: 4 });
    const turns = [system, user('what is the time?')];
    const { done } = await worker.generate({ prompt: { kind: 'chat', turns }, maxTokens: 4 });
    // One token begins every prompt.
    expect(done.usage.cachedTokens > 1).toBe(keeps);
    await worker.end();
  },
);

/** Whether a beginning that two conversations share can be taken from inside the state of another one. */
const variants = [
  ['sliding window', writeTinySlidingWindow, true],
  ['recurrent', writeTinyRecurrent, false],
] as const;

describe.each(variants)('a model with a %s memory', (name, write, canCut) => {
  const opening = [system, user('tell me about the small house')];
  const path = (): string => join(folder, `${name}.gguf`);

  async function fresh(): Promise<TestWorker> {
    const worker = await bootWorker();
    await worker.load({ path: path(), numCtx: 1024, parallel: 2 });
    return worker;
  }

  beforeAll(async () => {
    await write(path());
  });

  it('takes a conversation up again at its last checkpoint and answers as if it had not', async () => {
    const worker = await fresh();
    const first = await worker.generate({ prompt: { kind: 'chat', turns: opening }, maxTokens: 40 });
    const turns = [...opening, { role: 'assistant', content: 'something else' } as Turn, user('and more?')];
    const warm = await worker.generate({ prompt: { kind: 'chat', turns }, maxTokens: 40 });
    expect(warm.done.usage.cachedTokens).toBeGreaterThanOrEqual(first.done.usage.promptTokens - 1);
    await worker.end();

    const other = await fresh();
    const cold = await other.generate({ prompt: { kind: 'chat', turns }, maxTokens: 40 });
    expect(cold.done.usage.cachedTokens).toBe(0);
    expect(warm.text).toBe(cold.text);
    await other.end();
  });

  it('goes back to what a checkpoint holds also after many were dropped', async () => {
    const worker = await fresh();
    const turns: Turn[] = [...opening];
    for (let turn = 0; turn < 7; turn += 1) {
      const { text: answer } = await worker.generate({ prompt: { kind: 'chat', turns }, maxTokens: 8 });
      turns.push({ role: 'assistant', content: answer }, user(`and number ${turn}?`));
    }
    // Before the last three prompts, whose checkpoints are still there.
    const earlier = [
      ...turns.slice(0, -5),
      { role: 'assistant', content: 'something else' } as Turn,
      user('so?'),
    ];
    const warm = await worker.generate({ prompt: { kind: 'chat', turns: earlier }, maxTokens: 40 });
    expect(warm.done.usage.cachedTokens).toBeGreaterThan(0);
    await worker.end();
    const other = await fresh();
    const cold = await other.generate({ prompt: { kind: 'chat', turns: earlier }, maxTokens: 40 });
    expect(warm.text).toBe(cold.text);
    await other.end();
  });

  it('reuses a shared beginning only where its memory can be cut, says so, and answers the same', async () => {
    const worker = await fresh();
    await worker.generate({ prompt: { kind: 'chat', turns: opening }, maxTokens: 40 });
    await worker.generate({ prompt: { kind: 'chat', turns: [user('quite another thing')] }, maxTokens: 4 });
    const turns = [system, user('what is the time?')];
    const warm = await worker.generate({ prompt: { kind: 'chat', turns }, maxTokens: 40 });
    expect(warm.done.usage.cachedTokens > 0).toBe(canCut);
    expect(warm.events[0]).toMatchObject({ type: 'started', cachedTokens: warm.done.usage.cachedTokens });
    await worker.end();
    const other = await fresh();
    const cold = await other.generate({ prompt: { kind: 'chat', turns }, maxTokens: 40 });
    expect(warm.text).toBe(cold.text);
    await other.end();
  });
});
