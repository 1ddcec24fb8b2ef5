/** The system prompt that a user set for a model, in every dialect of chat. */
import { beforeAll, describe, expect, it } from 'vitest';
import { setParams } from '../../src/store/install/changes.ts';
import { installed, scriptedService } from '../support/http/scripted-service.ts';

const service = scriptedService();
const system = 'You are a pirate.\nx-request-id: 17';
beforeAll(async () => {
  await setParams(service.registry, installed.chat, { system });
});

const turns = () => {
  const { job } = service.engine.lastJob.submission;
  if (job.kind !== 'generate' || job.prompt.kind !== 'chat') throw new Error('not a chat job');
  return job.prompt.turns.map(({ role, content }) => `${role}: ${content}`);
};

const user = { role: 'user', content: 'Hi' };
const kind = { role: 'system', content: 'Be kind.' };
const chatRoutes: [string, { plain: object; withSystem: object }][] = [
  ['/v1/chat/completions', { plain: { messages: [user] }, withSystem: { messages: [kind, user] } }],
  [
    '/v1/messages',
    {
      plain: { messages: [user], max_tokens: 9 },
      withSystem: { system: 'Be kind.', messages: [user], max_tokens: 9 },
    },
  ],
  ['/v1/responses', { plain: { input: 'Hi' }, withSystem: { instructions: 'Be kind.', input: 'Hi' } }],
  [
    '/api/chat',
    { plain: { messages: [user], stream: false }, withSystem: { messages: [kind, user], stream: false } },
  ],
  [
    '/api/generate',
    {
      plain: { prompt: 'Hi', stream: false },
      withSystem: { system: 'Be kind.', prompt: 'Hi', stream: false },
    },
  ],
];

describe.each(chatRoutes)('the system prompt of a model, %s', (path, { plain, withSystem }) => {
  it('precedes a conversation without one as it was set, and is named', async () => {
    const reply = await service.client.post(path, { model: installed.chat, ...plain });
    expect([reply.status, reply.headers['x-svc-rewritten']]).toEqual([200, 'system=added']);
    expect(turns()).toEqual([`system: ${system}`, 'user: Hi']);
  });

  it('gives way to that of a request', async () => {
    const reply = await service.client.post(path, { model: installed.chat, ...withSystem });
    expect([reply.status, reply.headers['x-svc-rewritten']]).toEqual([200, undefined]);
    expect(turns()).toEqual(['system: Be kind.', 'user: Hi']);
  });
});

it('is no part of a text completion', async () => {
  const { status } = await service.client.post('/v1/completions', { model: installed.chat, prompt: 'Hi' });
  const { job } = service.engine.lastJob.submission;
  expect([status, JSON.stringify(job).includes('pirate')]).toEqual([200, false]);
});
