/** The frozen lane in a real child with a real model: the same tokens and the same bits, whatever goes on beside it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { generateJob } from '../support/engine/jobs.ts';
import { type Answer, bootWorker, type TestWorker } from '../support/engine/worker-harness.ts';
import { writeTinyChat } from '../../tools/models/tiny-chat.ts';
import type { FrozenFacts } from '../../src/contract/frozen.ts';
import type { GenerateJob } from '../../src/contract/job.ts';

let folder: string;
let model: string;
let worker: TestWorker;

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'hearth-frozen-'));
  model = path.join(folder, 'tiny.gguf');
  await writeTinyChat(model);
  worker = await bootWorker();
  await worker.load({ path: model, numCtx: 8192 });
});

afterAll(async () => {
  await worker.end();
  rmSync(folder, { recursive: true, force: true });
});

const endless = { kind: 'chat', turns: [{ role: 'user', content: 'say it forever' }] } as const;

function frozenJob(fields: Partial<GenerateJob> = {}): Partial<GenerateJob> {
  return {
    prompt: { kind: 'chat', turns: [...endless.turns] },
    sampling: { temperature: 0, seed: 7 },
    maxTokens: 24,
    templateClockMs: 1_790_000_000_000,
    lane: 'frozen',
    ...fields,
  };
}

async function freeze(
  fields: Partial<GenerateJob> = {},
  on: TestWorker = worker,
): Promise<Answer & { frozen: FrozenFacts }> {
  const answer = await on.generate(frozenJob(fields));
  if (answer.done.frozen === undefined) throw new Error('a frozen run came without its facts');
  return { ...answer, frozen: answer.done.frozen };
}

const digestOf = ({ frozen }: { frozen: FrozenFacts }): string =>
  `${frozen.output.tokensSha256} ${frozen.output.traceSha256}`;

const noisy = (n: number): Promise<Answer> =>
  worker.generate({
    prompt: { kind: 'chat', turns: [{ role: 'user', content: `noise ${n}, forever` }] },
    sampling: { temperature: 1, seed: n },
    maxTokens: 80,
  });

describe('a frozen run', () => {
  it('gives the same tokens and the same bits again and again', async () => {
    const digests = new Set<string>();
    for (let n = 0; n < 10; n += 1) digests.add(digestOf(await freeze()));
    expect(digests.size).toBe(1);
  });

  it('gives them beside eight noisy streams, which keep running', async () => {
    const reference = digestOf(await freeze());
    const noise = Array.from({ length: 8 }, (_, n) => noisy(n));
    for (let n = 0; n < 5; n += 1) expect(digestOf(await freeze())).toBe(reference);
    for (const answer of await Promise.all(noise)) expect(answer.done.usage.completionTokens).toBe(80);
  });

  it('gives them after a long foreign prompt, and in another process', async () => {
    const reference = digestOf(await freeze());
    const words = Array.from({ length: 700 }, (_, n) => `word${n % 9}`)
      .join(' ')
      .slice(0, 900);
    await freeze({ prompt: { kind: 'chat', turns: [{ role: 'user', content: words }] }, maxTokens: 4 });
    expect(digestOf(await freeze())).toBe(reference);
    const other = await bootWorker();
    await other.load({ path: model, numCtx: 1024 });
    expect(digestOf(await freeze({}, other))).toBe(reference);
    await other.end();
  });

  it('repeats a sampled answer for its seed, and only for its seed', async () => {
    const sampled = (seed: number) => freeze({ sampling: { temperature: 1, seed } });
    const [first, again, other] = [await sampled(1), await sampled(1), await sampled(2)];
    expect(digestOf(again)).toBe(digestOf(first));
    expect(other.frozen.output.tokensSha256).not.toBe(first.frozen.output.tokensSha256);
    expect(first.frozen.sampling.chain).toEqual(['top_k', 'top_p', 'min_p', 'temperature', 'dist']);
    expect(first.frozen.output.minMargin).toBeNull();
  });

  it('says what it pinned and what it saw', async () => {
    const { frozen, done, events } = await freeze();
    expect(frozen.exec).toMatchObject({
      numCtx: 1024,
      sequences: 1,
      threads: 1,
      threadsObserved: 1,
      flashAttention: false,
      typeK: 'F16',
      gpuLayers: 0,
    });
    expect(frozen.host.mapped.map(({ name }) => name)).toContainEqual(expect.stringMatching(/^libllama\./));
    expect(frozen.host.mapped.every(({ inode }) => process.platform !== 'linux' || inode !== null)).toBe(
      true,
    );
    expect(frozen.output.tokenCount).toBe(done.usage.completionTokens);
    expect(Buffer.from(frozen.output.tokens, 'base64')).toHaveLength(4 * frozen.output.tokenCount);
    expect(frozen.output.minMargin).toBeGreaterThan(0);
    expect(frozen.sampling).toMatchObject({ temperature: 0, seed: 7, chain: ['greedy'], maxTokens: 24 });
    expect(events[0]).toMatchObject({ type: 'started', cachedTokens: 0 });
  });

  it('records another number of threads when told to use one', async () => {
    const pinned = { threads: 2, numCtx: null, claimedTokens: null, epsilon: 0 };
    const { frozen } = await freeze({ frozen: pinned });
    expect(frozen.exec).toMatchObject({ threads: 2, threadsObserved: 2 });
    expect((await freeze()).frozen.exec.threads).toBe(1);
  });

  it('bounds the answer by the window, and takes the smallest that fits', async () => {
    const { frozen } = await freeze({ maxTokens: null, numCtx: 64 });
    expect(frozen.sampling.maxTokens).toBe(64 - frozen.prompt.tokenCount);
    expect(frozen.exec.numCtx).toBe(1024);
  });

  it('constrains by a grammar like an ordinary slot', async () => {
    const format = { kind: 'json_object' } as const;
    const first = await freeze({ format, maxTokens: 60 });
    expect(digestOf(await freeze({ format, maxTokens: 60 }))).toBe(digestOf(first));
    expect(first.frozen.sampling.chain[0]).toBe('grammar');
  });

  it.each([
    ['a job without a seed', { sampling: { temperature: 0 } }],
    ['a job without a clock', { templateClockMs: null }],
    [
      'a window that cannot hold the run',
      { frozen: { threads: null, numCtx: 256, claimedTokens: null, epsilon: 0 }, maxTokens: 400 },
    ],
  ])('refuses %s', async (_, fields) => {
    const refused = await freeze(fields).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'evidence_unavailable' });
  });

  it('stops when it is cancelled, and the next one runs', async () => {
    const job = generateJob({ ...frozenJob(), maxTokens: 8000 });
    const running = worker.run(job);
    await running.next();
    worker.cancel(job.jobId);
    await expect(drain(running)).rejects.toMatchObject({ code: 'cancelled' });
    expect(digestOf(await freeze())).toBe(digestOf(await freeze()));
  });
});

describe('a check of claimed tokens', () => {
  const check = (tokens: string, epsilon = 0.5) =>
    worker.generate(frozenJob({ frozen: { threads: null, numCtx: null, claimedTokens: tokens, epsilon } }));

  it('finds every token of an honest answer exact', async () => {
    const { frozen } = await freeze();
    const { done } = await check(frozen.output.tokens);
    expect(done.check).toMatchObject({
      steps: frozen.output.tokenCount,
      exact: frozen.output.tokenCount,
      withinMargin: 0,
      firstMismatch: null,
      promptTokensSha256: frozen.prompt.tokensSha256,
      templateSha256: frozen.prompt.templateSha256,
    });
  });

  it('names the first token that the model would not have chosen', async () => {
    const { frozen } = await freeze();
    const bytes = Buffer.from(frozen.output.tokens, 'base64');
    bytes.writeUInt32LE((bytes.readUInt32LE(4 * 9) + 1) % 256, 4 * 9);
    const { done } = await check(bytes.toString('base64'));
    expect(done.check?.firstMismatch).toBe(9);
  });

  it('accepts a near tie up to the margin, and no further', async () => {
    const { frozen } = await freeze();
    const bytes = Buffer.from(frozen.output.tokens, 'base64');
    bytes.writeUInt32LE((bytes.readUInt32LE(0) + 1) % 256, 0);
    const claimed = bytes.subarray(0, 4).toString('base64');
    const gap = (await check(claimed)).done.check?.largestGap ?? 0;
    expect(gap).toBeGreaterThan(0);
    expect((await check(claimed, gap * 1.01)).done.check).toMatchObject({
      withinMargin: 1,
      firstMismatch: null,
    });
    expect((await check(claimed, gap * 0.99)).done.check).toMatchObject({
      withinMargin: 0,
      firstMismatch: 0,
    });
  });
});

async function drain(events: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of events) void _;
}
