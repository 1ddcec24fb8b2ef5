/** How an answer that repeated itself is named, in every dialect. */
import { describe, expect, it } from 'vitest';
import type { DoneEvent, JobEvent } from '../../src/contract/job-event.ts';
import { done, started, text } from '../support/http/scripted-engine.ts';
import { installed, scriptedService } from '../support/http/scripted-service.ts';

const service = scriptedService();
const endedBy = (repetition: NonNullable<DoneEvent['repetition']>): JobEvent[] => [
  started(),
  text('la la'),
  { ...(done(repetition === 'ended' ? 'length' : 'stop') as DoneEvent), repetition },
];
const messages = [{ role: 'user', content: 'sing' }];
const model = installed.chat;

describe('an answer that repeated itself', () => {
  it.each([
    ['/v1/chat/completions', { model, messages }],
    ['/v1/completions', { model, prompt: 'sing' }],
    ['/v1/responses', { model, input: 'sing' }],
    ['/v1/messages', { model, messages, max_tokens: 100 }],
    ['/api/chat', { model, messages, stream: false }],
  ])('is named in a header of %s', async (path, body) => {
    for (const repetition of ['ended', 'nudged'] as const) {
      service.engine.plays(endedBy(repetition));
      const { status, headers } = await service.client.post(path, body);
      expect([status, headers['x-svc-repetition']]).toEqual([200, repetition]);
    }
  });

  it('says how it ended beside the finish reason of OpenAI', async () => {
    service.engine.plays(endedBy('ended'));
    const { body } = await service.client.chat({});
    expect(body).toMatchObject({
      svc_repetition: 'ended',
      choices: [{ finish_reason: 'length', svc_finish_reason: 'repetition' }],
    });
  });
});
