/** What is told of the prompt cache, over the wire: lines that were taken out, reports; each to its owner. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JobEvent } from '../../src/contract/job-event.ts';
import { scriptedService, startScripted, type ScriptedService } from '../support/http/scripted-service.ts';

const service = scriptedService();
const line = 'x-anthropic-billing-header: cc_version=2.1; cch=af3;';
const usage = { promptTokens: 900, cachedTokens: 20, completionTokens: 1, reasoningTokens: 0 };
const cache = { slotTokens: 4, ramTokens: 6, diskTokens: 10, restoreMs: 1.234 };
const difference = {
  token: 20,
  shared: 'städte',
  before: 'b',
  now: 'c',
} as const;

const played = (): readonly JobEvent[] => [
  {
    type: 'started',
    promptTokens: 900,
    cachedTokens: 20,
    numCtx: 4096,
    cache,
    earlier: { commonTokens: 20, difference },
  },
  { type: 'text', text: 'Yes.' },
  { type: 'done', finishReason: 'stop', usage, timings: { prefillMs: 1, decodeMs: 1 }, cache },
];

const turnsOf = ({ engine }: ScriptedService) => {
  const { job } = engine.lastJob.submission;
  if (job.kind !== 'generate' || job.prompt.kind !== 'chat') throw new Error('not a chat job');
  return job.prompt.turns;
};

describe('volatile lines', () => {
  const asks: [string, string, object][] = [
    [
      'chat completions',
      '/v1/chat/completions',
      {
        messages: [
          { role: 'system', content: `${line}\nHelp.` },
          { role: 'user', content: 'Hi' },
        ],
      },
    ],
    [
      'Messages',
      '/v1/messages',
      {
        max_tokens: 9,
        system: [
          { type: 'text', text: line },
          { type: 'text', text: 'Help.' },
        ],
        messages: [{ role: 'user', content: 'Hi' }],
      },
    ],
    ['Responses', '/v1/responses', { store: false, instructions: `${line}\nHelp.`, input: 'Hi' }],
  ];

  it.each(asks)('are dropped and named: %s', async (_, path, fields) => {
    const reply = await service.client.post(path, { model: 'tiny-chat', ...fields });
    expect([reply.status, reply.headers['x-svc-rewritten']]).toEqual([
      200,
      'x-anthropic-billing-header=dropped',
    ]);
    expect(turnsOf(service)).toEqual([
      { role: 'system', content: 'Help.' },
      { role: 'user', content: 'Hi' },
    ]);
  });

  it.each([
    ['move', 'x-anthropic-billing-header=moved', 'Help.', `Hi\n\n${line}`],
    ['keep', undefined, `${line}\nHelp.`, 'Hi'],
  ] as const)('obey SVC_VOLATILE_LINES=%s', async (volatileLines, header, system, user) => {
    const other = await startScripted({ volatileLines });
    try {
      const reply = await other.client.post('/v1/chat/completions', { model: 'tiny-chat', ...asks[0]?.[2] });
      expect(reply.headers['x-svc-rewritten']).toBe(header);
      expect(turnsOf(other).map(({ content }) => content)).toEqual([system, user]);
    } finally {
      await other.close();
    }
  });

  it('are not touched where a signed answer is asked for, unless it is streamed', async () => {
    const frozen = { 'x-svc-evidence-mode': 'frozen-v1' };
    const body = { model: 'tiny-chat', ...asks[0]?.[2] };
    const whole = await service.client.post('/v1/chat/completions', body, frozen);
    expect(whole.headers['x-svc-rewritten']).toBeUndefined();
    const streamed = await service.client.post('/v1/chat/completions', { ...body, stream: true }, frozen);
    expect(streamed.headers['x-svc-rewritten']).toBe('x-anthropic-billing-header=dropped');
  });
});

describe('reports', () => {
  let keyed: ScriptedService;
  beforeAll(async () => {
    keyed = await startScripted({ apiKey: 'secret' });
  });
  afterAll(() => keyed.close());

  it('tell timings.cache, the reason and where the prompts differ', async () => {
    service.engine.plays(played());
    const reply = await service.client.chat({}, { 'x-request-id': 'turn-3' });
    expect(reply.body.timings.cache).toEqual({
      slot: 4,
      ram: 6,
      disk: 10,
      restore_ms: 1.23,
      evaluated: 880,
    });
    const { status, body } = await service.client.get('/svc/cache/why/turn-3');
    const { number } = (await service.client.get('/svc/requests/turn-3')).body;
    for (const name of [number, 'last'])
      expect((await service.client.get(`/svc/cache/why/${name}`)).body).toEqual(body);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      reason: 'differs',
      difference,
      from: { slot: 4, ram: 6, disk: 10 },
      restore_ms: 1.23,
    });
    // What prompts say is told on request and never logged.
    expect(service.log()).not.toContain('städte');
  });

  it('are asked for with the key, and seen by it alone', async () => {
    keyed.engine.plays(played());
    await keyed.client.chat({}, { 'x-request-id': 'mine' });
    expect((await keyed.client.get('/svc/cache/why/mine')).status).toBe(200);
    expect((await keyed.client.get('/svc/cache/why/mine', { authorization: 'Bearer other' })).status).toBe(
      401,
    );
    expect((await service.client.get('/svc/cache/why/mine')).body.code).toBe('cache_report_not_found');
  });
});
