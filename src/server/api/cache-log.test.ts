import { describe, expect, it } from 'vitest';
import type { JobEvent } from '../../contract/job-event.ts';
import type { Caller } from './caller.ts';
import { CacheLog } from './cache-log.ts';

type Started = Omit<Extract<JobEvent, { type: 'started' }>, 'type'>;

const clock = { unixMs: () => 1_700_000_000_500 };
const caller = (fields: Partial<Caller> = {}): Caller => ({
  requestId: 'req_1',
  clientKey: 'client',
  owner: 'owner',
  clientName: '',
  signal: new AbortController().signal,
  ...fields,
});
const started = (fields: Partial<Started> = {}): Started => ({
  promptTokens: 1000,
  cachedTokens: 0,
  numCtx: 4096,
  ...fields,
});
const difference = { token: 41, shared: 'It is ', before: '9:05', now: '9:06' };

function note(log: CacheLog, who: Caller, event: Started): void {
  log.watch(who, 'm').onEvent({ type: 'started', ...event });
}
const reported = (event: Partial<Started>) => {
  const log = new CacheLog(clock);
  note(log, caller(), started(event));
  return log.why('owner', 'req_1');
};
const origins = { slotTokens: 40, ramTokens: 0, diskTokens: 0, restoreMs: 0 };
const missed = (reason: 'evicted' | 'damaged' | 'differs') => ({
  cache: { ...origins, miss: { reason, commonTokens: 900, wanted: [], held: [], before: 0 } },
});

describe('reports', () => {
  it('say where the tokens came from, where the prompts differ and what would have kept the rest', () => {
    expect(reported({ cachedTokens: 40, earlier: { commonTokens: 41, difference } })).toEqual({
      object: 'svc.cache_report',
      request_id: 'req_1',
      model: 'm',
      created: 1_700_000_000,
      prompt_tokens: 1000,
      cached_tokens: 40,
      evaluated_tokens: 960,
      from: { slot: 40, ram: 0, disk: 0 },
      restore_ms: 0,
      num_ctx: 4096,
      reason: 'differs',
      explanation: 'The prompt differs from the earlier one before its end.',
      advice: expect.stringContaining('Append'),
      difference,
    });
  });

  it.each([
    ['continued', { cachedTokens: 990, earlier: { commonTokens: 990 } }],
    ['cold', {}],
    ['cold', { cachedTokens: 5 }],
    ['evicted', { cachedTokens: 40, earlier: { commonTokens: 900, difference } }],
    ['evicted', { cachedTokens: 40, earlier: { commonTokens: 900 }, ...missed('differs') }],
    ['damaged', { cachedTokens: 40, earlier: { commonTokens: 900 }, ...missed('damaged') }],
  ] as const)('name the reason: %s', (reason, event) => {
    expect(reported(event).reason).toBe(reason);
  });

  it('are kept for the first answer of a request, and only for its owner', () => {
    const log = new CacheLog(clock);
    const account = log.watch(caller(), 'm');
    account.onEvent({ type: 'started', ...started() });
    account.onEvent({ type: 'started', ...started({ promptTokens: 7 }) });
    expect(log.why('owner', 'req_1').prompt_tokens).toBe(1000);
    expect(() => log.why('other', 'req_1')).toThrow('There is no cache report for request "req_1"');
  });

  it('are found as the last one of their owner', () => {
    const log = new CacheLog(clock);
    for (const requestId of ['req_1', 'req_2']) note(log, caller({ requestId }), started());
    note(log, caller({ owner: 'other', requestId: 'theirs' }), started());
    expect(log.why('owner', 'last').request_id).toBe('req_2');
    expect(() => log.why('nobody', 'last')).toThrow('no cache report');
  });

  it('are bounded, and one owner pushes out none of another', () => {
    const log = new CacheLog(clock, 4);
    note(log, caller({ owner: 'alice', requestId: 'hers' }), started());
    for (let index = 0; index < 9; index += 1)
      note(log, caller({ owner: 'mallory', requestId: `req_${index}` }), started());
    expect(log.why('alice', 'hers').request_id).toBe('hers');
    expect(() => log.why('mallory', 'req_0')).toThrow();
    expect(log.why('mallory', 'req_8').request_id).toBe('req_8');
  });
});
