/** What a worker tells of its slots: often while it is watched, seldom otherwise, and as they are. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { writeTinyChat } from '../../tools/models/tiny-chat.ts';
import type { FromWorker } from '../../src/contract/ipc.ts';
import type { SlotStates } from '../../src/contract/slots.ts';
import { generateJob } from '../support/engine/jobs.ts';
import { bootWorker, collect, type TestWorker } from '../support/engine/worker-harness.ts';

let folder: string;
let worker: TestWorker;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hearth-slots-'));
  const path = join(folder, 'tiny.gguf');
  await writeTinyChat(path);
  worker = await bootWorker();
  await worker.load({ path, numCtx: 2048, parallel: 3 });
});

afterAll(async () => {
  await worker.end();
  await rm(folder, { recursive: true });
});

it('follows an answer from its prompt to the state that is kept of it, and says little when nobody watches', async () => {
  const reports: SlotStates[] = [];
  let heard = (): void => {};
  const report = (isIt: (slots: SlotStates) => boolean): Promise<SlotStates> =>
    new Promise((resolve) => {
      heard = () => {
        const found = reports.find(isIt);
        if (found !== undefined) resolve(found);
      };
      heard();
    });
  worker.watchSlots((slots) => {
    reports.push(slots);
    heard();
  });
  const idle = await report(() => true);
  expect(idle).toEqual([0, 1, 2].map((slot) => ({ slot, keptTokens: 0 })));
  const job = generateJob({ maxTokens: 1500, prompt: { kind: 'text', text: 'forever' } });
  const answered = collect(worker.run(job));
  const busy = await report((slots) => slots.some(({ work }) => (work?.writtenTokens ?? 0) > 0));
  const { work, keptTokens = 0 } = busy.find((slot) => slot.work !== undefined) ?? {};
  expect(work).toMatchObject({ jobId: job.jobId, phase: 'decode' });
  expect(work?.evaluatedTokens).toBe(work?.promptTokens);
  // The last token that was sampled has no state yet.
  expect(keptTokens).toBe((work?.promptTokens ?? 0) + (work?.writtenTokens ?? 0) - 1);
  const { usage } = (await answered).done;
  const all = usage.promptTokens + usage.completionTokens;
  const kept = await report((slots) => slots !== idle && slots.every((slot) => slot.work === undefined));
  expect(Math.max(...kept.map((slot) => slot.keptTokens))).toBeGreaterThanOrEqual(all - 2);
  worker.watchSlots(null);
  const messages: FromWorker[] = [];
  const afterwards = new Promise<SlotStates>((resolve) =>
    worker.child.on('message', (message: FromWorker) => {
      messages.push(message);
      if (message.type === 'slots' && message.slots.every((slot) => slot.work === undefined))
        resolve(message.slots);
    }),
  );
  await worker.generate({ maxTokens: 300, prompt: { kind: 'text', text: 'forever' } });
  // Figures want to know in the end what is kept, and not each step on the way there.
  expect(Math.max(...(await afterwards).map((slot) => slot.keptTokens))).toBeGreaterThan(300);
  const count = (wanted: FromWorker['type']): number => messages.filter(({ type }) => type === wanted).length;
  expect(count('slots')).toBeLessThan(count('events'));
});
