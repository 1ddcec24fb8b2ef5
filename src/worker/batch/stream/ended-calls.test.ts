/** Half a call is of no use: a limit that nobody asked for lets it end. */
import { EventEmitter, once } from 'node:events';
import { expect, it } from 'vitest';
import { generateJob } from '../../../../test/support/engine/jobs.ts';
import {
  answering,
  scriptedBackend,
  scriptedSpec,
} from '../../../../test/support/engine/scripted-backend.ts';
import type { DoneEvent, JobEvent } from '../../../contract/job-event.ts';
import type { GenerateJob } from '../../../contract/job.ts';
import { ChatService } from '../../chat-service.ts';
import { loadChat } from '../../load/chat.ts';
import { Outbox } from '../../outbox.ts';
import { CALL_BETWEEN, CALL_CLOSE, CALL_OPEN } from '../../prompt/envelope.ts';

/** Text that repeats nothing, longer than the default limit of a model without an end token. */
const TEXT = Array.from({ length: 400 }, (_, at) => String(at * at * 7 + at)).join(' ');
const ARGUMENTS = JSON.stringify({ text: TEXT });
const CALL = `${CALL_OPEN}write${CALL_BETWEEN}${ARGUMENTS}${CALL_CLOSE}`;
const tool = { name: 'write', description: '', parameters: { type: 'object' } };

async function written(answer: string, fields: Partial<GenerateJob>) {
  const { backend } = scriptedBackend(answering(() => answer));
  const loaded = await loadChat(backend, { ...scriptedSpec, numCtx: 4096 }, () => undefined);
  const chat = { ...loaded, vocabulary: { ...loaded.vocabulary, endTokens: [] } };
  const writer = { ...loaded.writer, vocabulary: chat.vocabulary };
  const ends = new EventEmitter();
  const said: JobEvent[] = [];
  const outbox = new Outbox((message, onSent) => {
    for (const { event } of message.type === 'events' ? message.events : []) {
      said.push(event);
      if (event.type === 'done') ends.emit('done', event);
    }
    setImmediate(onSent);
  });
  const all = once(ends, 'done') as Promise<[DoneEvent]>;
  const asked = { tools: [tool], toolChoice: { mode: 'auto' as const }, maxTokens: null, ...fields };
  new ChatService({ ...chat, writer }, outbox).submit(generateJob(asked));
  const [done] = await all;
  const called = said.flatMap((event) => (event.type === 'tool_arguments' ? [event.text] : [])).join('');
  return { done, called };
}

it('a call longer than the default limit is written to its end', async () => {
  const { done, called } = await written(CALL, {});
  expect(done.finishReason).toBe('tool_calls');
  expect(done.usage.completionTokens).toBeGreaterThan(1024);
  expect(called).toBe(ARGUMENTS);
});

it.each<[string, string, Partial<GenerateJob>]>([
  ['the limit of a request', CALL, { maxTokens: 1024 }],
  ['the limit of words', TEXT, { tools: [], toolChoice: { mode: 'none' } }],
  ['the window', CALL, { numCtx: 1600 }],
])('%s ends the answer all the same', async (_, answer, fields) => {
  const { done, called } = await written(answer, fields);
  expect([done.finishReason, called]).toEqual(['length', '']);
  const { promptTokens, completionTokens } = done.usage;
  expect(fields.numCtx === undefined ? completionTokens : promptTokens + completionTokens).toBe(
    fields.numCtx ?? 1024,
  );
});
