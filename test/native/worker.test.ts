import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { leftOut } from '../support/left-out.ts';
import { generateJob, loadSpec } from '../support/engine/jobs.ts';
import { bootWorker, collect, type TestWorker } from '../support/engine/worker-harness.ts';
import { writeTinyChat } from '../../tools/models/tiny-chat.ts';
import { loadFailure } from '../../src/worker/load/load.ts';

let folder: string;
let modelPath: string;
let worker: TestWorker;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hearth-native-'));
  modelPath = join(folder, 'tiny.gguf');
  await writeTinyChat(modelPath);
  worker = await bootWorker();
  await worker.load({ path: modelPath });
});

afterAll(async () => {
  await worker.end();
  await rm(folder, { recursive: true });
});

describe('boot', () => {
  it('names the bound folder and the files of it that are mapped', async () => {
    const facts = await worker.booted();
    expect(facts.mapped.some((path) => /libllama\.[^/]*$/.test(path))).toBe(true);
    expect(facts.mapped.every((path) => path.startsWith(facts.folder))).toBe(true);
    expect(facts.systemInfo).not.toBe('');
  });

  it('exits by itself when the channel closes, also in the middle of an answer', async () => {
    const other = await bootWorker();
    await other.load({ path: modelPath, numCtx: 2048 });
    const events = other.run(generateJob({ maxTokens: null, prompt: { kind: 'text', text: 'forever' } }));
    await events.next();
    other.child.disconnect();
    await other.exited;
    // It ended itself: the host of this test waits an hour before it would.
    expect([other.child.exitCode, other.child.signalCode]).toEqual([null, 'SIGKILL']);
  });
});

describe('a worker', () => {
  it('outlives a signal to its group, because the server decides when it ends', async () => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) worker.child.kill(signal);
    expect((await worker.generate({})).text).not.toBe('');
    expect([worker.child.exitCode, worker.child.signalCode]).toEqual([null, null]);
  });
});

describe('load', () => {
  it('refuses a file that is no model with a reason, and stays alive', async () => {
    const other = await bootWorker();
    const broken = join(folder, 'broken.gguf');
    await writeFile(broken, 'GGUF and then nothing');
    const failure = await other.load({ path: broken }).catch((error: unknown) => error);
    // Not that it died: the sentence would be "the worker exited".
    expect(failure).toMatchObject({
      code: 'load_failed',
      detail: { reason: expect.stringMatching(/GGUF|gguf|load/) },
    });
    expect(String(failure)).not.toContain('exited');
    expect(await other.steps()).toBe(0);
    await other.end();
  });

  const hasPrlimit = spawnSync('prlimit', ['--version']).status === 0;
  it.runIf(hasPrlimit)(
    `tells a lack of memory from a bad file${leftOut(hasPrlimit, 'there is no prlimit here')}`,
    async () => {
      // What a pool reserves of the address space decides which allocation fails first.
      const other = await bootWorker();
      const pid = String(other.child.pid);
      const size = /^VmSize:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
      const room = 256 * 1024 * 1024;
      execFileSync('prlimit', ['--pid', pid, `--as=${Number(size?.[1]) * 1024 + room}`]);
      const failure = await other
        .load({ path: modelPath, numCtx: 1_000_000 })
        .catch((error: unknown) => error);
      expect(failure).toMatchObject({
        code: 'out_of_memory',
        detail: { model: 'test', reason: expect.stringMatching(/alloc/) },
      });
      await other.end();
    },
  );

  it.each([
    [true, 'out_of_memory'],
    [false, 'load_failed'],
  ])('whose cause is a lack of memory (%s) fails with %s', (isLack, code) => {
    expect(loadFailure(loadSpec(), new Error('no context'), () => isLack)).toMatchObject({ code });
  });
});

describe('generate', () => {
  it('answers the same greedy question the same way, ends by itself, and counts', async () => {
    const first = await worker.generate({});
    const second = await worker.generate({});
    expect(first.text.length).toBeGreaterThan(0);
    expect(second.text).toBe(first.text);
    expect(first.events[0]).toMatchObject({ type: 'started', numCtx: 512 });
    expect(first.done.usage.completionTokens).toBeGreaterThan(0);
  });

  it('stops at maxTokens with length', async () => {
    const { done } = await worker.generate({ maxTokens: 3, prompt: { kind: 'text', text: 'forever' } });
    expect(done).toMatchObject({ finishReason: 'length', usage: { completionTokens: 3 } });
  });

  it('evaluates the prompt only when no token is wanted', async () => {
    const { done, text } = await worker.generate({ maxTokens: 0 });
    expect(text).toBe('');
    expect(done).toMatchObject({ finishReason: 'length', usage: { completionTokens: 0 } });
  });

  it('refuses a prompt that does not fit with both numbers', async () => {
    const content = 'the time '.repeat(600);
    const failure = await worker
      .generate({ prompt: { kind: 'chat', turns: [{ role: 'user', content }] } })
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({
      code: 'context_length_exceeded',
      detail: { numCtx: 512, maxCtx: expect.any(Number) },
    });
  });

  it('fills the window to the last token and says length', async () => {
    const { done } = await worker.generate({ maxTokens: null, prompt: { kind: 'text', text: 'forever' } });
    expect(done.finishReason).toBe('length');
    expect(done.usage.promptTokens + done.usage.completionTokens).toBe(512);
  });

  it('lets a cancelled job go with a last word, and others go on', async () => {
    const long = generateJob({ maxTokens: null, prompt: { kind: 'text', text: 'forever and ever' } });
    const alone = await collect(worker.run({ ...long, jobId: 'alone' }));
    const kept = collect(worker.run({ ...long, jobId: 'kept' }));
    const dropped = worker.run({ ...long, jobId: 'dropped' });
    await dropped.next();
    worker.cancel('dropped');
    const failure = await collect(dropped).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'cancelled' });
    expect((await kept).text).toBe(alone.text);
  });
});
