import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestWorker } from '../../test/support/worker-harness.ts';
import { writeTinyChat } from '../builtin/tiny-chat.ts';

let folder: string;
let worker: TestWorker;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hearth-hopeless-'));
  await writeTinyChat(join(folder, 'tiny.gguf'));
  worker = new TestWorker();
  await worker.booted();
  await worker.load({ path: join(folder, 'tiny.gguf'), numCtx: 512, parallel: 2 });
});

afterAll(async () => {
  await worker.end();
  await rm(folder, { recursive: true });
});

const overflow = (text: string) => worker.generate({ prompt: { kind: 'text', text }, maxTokens: 1 });

describe('a prompt that cannot fit', () => {
  it('is refused unread when its length alone says so', async () => {
    await expect(overflow('word '.repeat(1_000_000))).rejects.toThrow(/context_overflow .*"atLeast":true/);
  });

  it('is counted exactly when it might have fitted', async () => {
    await expect(overflow('a b c '.repeat(200))).rejects.toThrow(
      /context_overflow (?!.*atLeast).*"numCtx":512/,
    );
  });
});

describe('a worker', () => {
  it('outlives a signal to its group, because the server decides when it ends', async () => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) worker.child.kill(signal);
    expect((await worker.ping(7)).nonce).toBe(7);
  });
});
