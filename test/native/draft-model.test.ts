/** A smaller model that drafts changes how fast an answer comes, and nothing else. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bootNative } from '../../src/worker/addon/boot.ts';
import { DraftingModel } from '../../src/worker/batch/stream/drafting-model.ts';
import { chatContext } from '../../src/worker/load/chat.ts';
import { loadOptions } from '../../src/worker/load/load-options.ts';
import { writeTinyChat } from '../../tools/models/tiny-chat.ts';
import { loadSpec } from '../support/engine/jobs.ts';
import { bootWorker, type TestWorker } from '../support/engine/worker-harness.ts';

let folder: string;
let path: string;
let drafted: TestWorker;
let plain: TestWorker;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hearth-draft-model-'));
  path = join(folder, 'tiny.gguf');
  await writeTinyChat(path);
  [drafted, plain] = await Promise.all([bootWorker(), bootWorker()]);
  await drafted.load({ path, numCtx: 512, parallel: 2, draft: { name: 'itself', path } });
  await plain.load({ path, numCtx: 512, parallel: 2, draftTokens: 0 });
});

afterAll(async () => {
  await Promise.all([drafted.end(), plain.end()]);
  await rm(folder, { recursive: true });
});

describe('a drafting model', () => {
  it('leaves every answer as it is, of several at once', async () => {
    const jobs = ['the river keeps its own time', 'forever and a day'].map((text) => ({
      prompt: { kind: 'text' as const, text },
      maxTokens: 60,
      sampling: { temperature: 0 },
    }));
    const found = await Promise.all(jobs.map((job) => drafted.generate(job)));
    for (const [i, job] of jobs.entries()) expect(found[i]?.text).toBe((await plain.generate(job)).text);
  });

  it('says in llama.cpp what the model itself says next', async () => {
    const backend = await bootNative('off');
    const options = loadOptions(backend, loadSpec());
    const model = await backend.openModel(path, options, () => undefined);
    const size = { cells: 512, sequences: 1, threads: 1, unified: false, draftTokens: 0 };
    const drafting = new DraftingModel(await model.newContext(chatContext(options, size)));
    const prompt = [...model.vocabulary.tokenize('the river keeps its own time', true)];
    const drafts = drafting.continue(0, prompt, 8);
    expect(drafts).toHaveLength(8);
    const bytes = Buffer.concat(drafts.map((token) => model.vocabulary.tokenBytes(token)));
    const text = 'the river keeps its own time';
    const said = await plain.generate({
      prompt: { kind: 'text', text },
      maxTokens: 8,
      sampling: { temperature: 0 },
    });
    expect(bytes.toString()).toBe(said.text);
  });
});
