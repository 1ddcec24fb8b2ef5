/** What a worker does about an answer that repeats itself. */
import { EventEmitter, once } from 'node:events';
import { expect, it } from 'vitest';
import { generateJob } from '../../../../test/support/engine/jobs.ts';
import { scriptedBackend, scriptedSpec } from '../../../../test/support/engine/scripted-backend.ts';
import type { DoneEvent } from '../../../contract/job-event.ts';
import type { GenerateJob } from '../../../contract/job.ts';
import type { NativeBackend } from '../../native.ts';
import { ChatService } from '../../chat-service.ts';
import { loadChat } from '../../load/chat.ts';
import { Outbox } from '../../outbox.ts';

const END = 256;

/** A model that says "la la la" without end, and `next` where it may not go on. */
async function sung(fields: Partial<GenerateJob>, next: number) {
  const { backend } = scriptedBackend((before) => Buffer.from(before.length % 2 === 0 ? 'l' : 'a'));
  const choosing: NativeBackend = {
    ...backend,
    openModel: async (...args) => {
      const model = await backend.openModel(...args);
      const newContext: typeof model.newContext = async (options) => {
        const context = await model.newContext(options);
        return {
          ...context,
          readLogits: () => ({
            of: [{ token: next, logit: 1 }],
            largest: 1,
            totalWeight: () => 1,
            tokenRank: () => 1,
          }),
        };
      };
      return { ...model, newContext };
    },
  };
  const chat = await loadChat(choosing, scriptedSpec, () => undefined);
  const ends = new EventEmitter();
  let text = '';
  const outbox = new Outbox((message, onSent) => {
    for (const { event } of message.type === 'events' ? message.events : []) {
      if (event.type === 'text') text += event.text;
      if (event.type === 'done') ends.emit('done', event);
    }
    setImmediate(onSent);
  });
  const service = new ChatService(chat, outbox);
  const all = once(ends, 'done') as Promise<[DoneEvent]>;
  service.submit(generateJob({ maxTokens: 800, ...fields }));
  const [done] = await all;
  return { done, text };
}

it('an answer that repeats itself is ended, after it could not be led elsewhere', async () => {
  const { done, text } = await sung({}, '!'.charCodeAt(0));
  expect(done).toMatchObject({ finishReason: 'length', repetition: 'ended' });
  expect(text.match(/!/g)).toHaveLength(1);
  expect(done.usage.completionTokens).toBeLessThanOrEqual(302);
});

it('another choice of one token may be enough', async () => {
  const { done } = await sung({}, END);
  expect(done).toMatchObject({ finishReason: 'stop', repetition: 'nudged' });
});

it.each<[string, Partial<GenerateJob>]>([
  ['repetition_guard is 0', { sampling: { temperature: 0, repetitionGuard: 0 } }],
  ['no token may end the answer', { ignoresEnd: true }],
])('goes on where %s', async (_, fields) => {
  const { done } = await sung(fields, END);
  expect(done).toMatchObject({ finishReason: 'length', usage: { completionTokens: 800 } });
  expect(done.repetition).toBeUndefined();
});

it('the request says how long it may repeat itself', async () => {
  const { done } = await sung({ sampling: { temperature: 0, repetitionGuard: 500 } }, '!'.charCodeAt(0));
  expect(done.repetition).toBe('ended');
  expect(done.usage.completionTokens).toBeGreaterThan(500);
});

it('a shape is never led elsewhere, but ended', async () => {
  const gbnf = 'root ::= [a-z]*';
  const { done, text } = await sung({ format: { kind: 'grammar', gbnf } }, '!'.charCodeAt(0));
  expect(done).toMatchObject({ finishReason: 'length', repetition: 'ended' });
  expect(text).not.toContain('!');
});
