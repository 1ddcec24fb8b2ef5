/** The same promises over the real child and real models: what a native library does is not what a fake does. */
import { embedJob } from '../../support/engine/jobs.ts';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { systemClock } from '../../../src/lib/base/clock.ts';
import { tinyChatContent } from '../../../tools/models/tiny-chat.ts';
import { tinyEmbedContent } from '../../../tools/models/tiny-embed.ts';
import type { Backend, LoadedModel } from '../../../src/server/engine/ports.ts';
import type { GenerateJob } from '../../../src/contract/job.ts';
import { TOKENS_PER_EVENT } from '../../../src/contract/job-event.ts';
import { encodeGguf } from '../../../tools/gguf/writer.ts';
import { createLocalBackend } from '../../../src/server/engine/local/local-backend.ts';
import {
  backendOver,
  exists,
  keepingLog,
  loadFrom,
  never,
  outcome,
  pidOf,
  run,
  textJob,
  types,
} from './worker-rig.ts';

const childPath = fileURLToPath(new URL('../../../dist/worker/main.js', import.meta.url));
const folder = await mkdtemp(join(tmpdir(), 'hearth-worker-'));
const chatPath = join(folder, 'chat.gguf');
const embedPath = join(folder, 'embed.gguf');

beforeAll(async () => {
  await writeFile(chatPath, encodeGguf(tinyChatContent()));
  await writeFile(embedPath, encodeGguf(tinyEmbedContent()));
});
afterAll(async () => {
  await backend.close();
  await rm(folder, { recursive: true });
});

/** One for all tests, because each fork pays for the native library; the spare then serves the next test. */
const backend = createLocalBackend({
  childPath,
  hostEnv: process.env,
  gpu: 'off',
  clock: systemClock,
  log: keepingLog(),
});

function loadChat(from: Backend): Promise<LoadedModel> {
  return loadFrom(from, { path: chatPath, numCtx: 2_048 });
}

/** A generation that goes on until its window is full: the letter a, the token 97, and nothing else. */
const endless = (): GenerateJob => ({
  ...textJob('once upon a time', null),
  sampling: { temperature: 0, logitBias: [[97, 100]], repetitionGuard: 0 },
});

it('a real model loads, answers and embeds', async () => {
  const chat = await loadChat(backend);
  const answer = await outcome(run(chat, textJob('hello', 4), never));
  expect(answer.error).toBeUndefined();
  expect(types(answer.events).at(-1)).toBe('done');
  expect(backend.backendFacts()).toMatchObject({ folder: expect.any(String) });
  const embedder = await loadFrom(backend, { path: embedPath, kind: 'embedding', numCtx: 64 });
  const vectors = await outcome(run(embedder, embedJob({ inputs: ['a', 'b'] }), never));
  expect(vectors.error).toBeUndefined();
  expect(types(vectors.events).sort()).toEqual(['embedded', 'embedding', 'embedding']);
});

it('a killed real worker fails each of its live sequences, and the next load serves', async () => {
  const model = await loadChat(backend);
  let begun = 0;
  const all = Array.from({ length: 4 }, () =>
    outcome(run(model, endless(), never), (event) => {
      if (event.type === 'started') begun += 1;
      if (begun === 4 && exists(pidOf(model))) process.kill(pidOf(model), 'SIGKILL');
    }),
  );
  for (const { events, error } of await Promise.all(all)) {
    expect(types(events)).not.toContain('done');
    expect(error).toMatchObject({ code: 'worker_crashed', detail: { reason: 'signal SIGKILL' } });
  }
  const next = await loadChat(backend);
  expect(types((await outcome(run(next, textJob('hello', 2), never))).events).at(-1)).toBe('done');
});

it.runIf(process.platform !== 'win32')('a stopped real worker is found out and replaced', async () => {
  const impatient = backendOver('native', { childPath, limits: { heartbeatMs: 50, silenceMs: 1_000 } });
  const model = await loadChat(impatient);
  const { error } = await outcome(run(model, endless(), never), (event) => {
    if (event.type === 'started') process.kill(pidOf(model), 'SIGSTOP');
  });
  expect(error).toMatchObject({ code: 'worker_hung' });
  await model.gone;
  expect(exists(pidOf(model))).toBe(false);
});

it.each([
  ['an empty file', Buffer.alloc(0)],
  ['a file that is cut off', encodeGguf(tinyChatContent()).subarray(0, 50_000)],
])('%s fails to load with a reason, and the worker is gone', async (_, bytes) => {
  const path = join(folder, 'broken.gguf');
  await writeFile(path, bytes);
  await expect(loadFrom(backend, { path })).rejects.toMatchObject({
    code: 'load_failed',
    detail: { model: 'm', reason: expect.stringMatching(/./) },
  });
});

it('an aborted generation frees its sequence: as many again can run', async () => {
  const model = await loadChat(backend);
  for (let round = 0; round < 2; round += 1) {
    const runs = Array.from({ length: model.facts.slots }, () => {
      const abort = new AbortController();
      return outcome(run(model, endless(), abort.signal), (event) => {
        if (event.type === 'started') abort.abort();
      });
    });
    for (const { error } of await Promise.all(runs)) expect(error).toMatchObject({ code: 'cancelled' });
  }
});

it('an answer that is held back to its end arrives with all of its tokens', async () => {
  const model = await loadChat(backend);
  const maxTokens = TOKENS_PER_EVENT + 100;
  // All of it could be the beginning of this stop string.
  const job = { ...endless(), maxTokens, stop: ['a'.repeat(maxTokens + 1)], topLogprobs: 0 };
  const { events, error } = await outcome(run(model, job, never));
  expect(error).toBeUndefined();
  const texts = events.filter((event) => event.type === 'text');
  expect(texts.map(({ text }) => text).join('')).toBe('a'.repeat(maxTokens));
  for (const { text, tokens } of texts) expect(tokens?.map(({ chosen }) => chosen.text).join('')).toBe(text);
});
