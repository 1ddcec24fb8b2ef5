import { describe, expect, it } from 'vitest';
import type { Caller } from '../caller.ts';
import { CacheLog } from './cache-log.ts';
import type { Started } from './reasons.ts';

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
const changed = (fields: object = {}): Partial<Started> => ({
  cachedTokens: 40,
  earlier: {
    commonTokens: 41,
    difference: {
      cause: 'timestamp',
      token: 41,
      place: { kind: 'message', index: 0, name: 'system' },
      isHistory: true,
      shared: 'It is ',
      before: '9:05',
      now: '9:06',
      ...fields,
    },
  },
});

function note(log: CacheLog, who: Caller, event: Started): void {
  log.watch(who, 'm').onEvent({ type: 'started', ...event });
}

describe('reports', () => {
  it('say where the tokens came from and why the rest was read', () => {
    const log = new CacheLog(clock);
    note(log, caller(), started(changed()));
    expect(log.why('owner', 'req_1')).toEqual({
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
      reason: 'timestamp',
      explanation: 'Message 0 (system) holds a time that is different in each request.',
      advice: expect.stringContaining('last user message'),
      difference: {
        token: 41,
        place: { kind: 'message', index: 0, name: 'system' },
        shared: 'It is ',
        before: '9:05',
        now: '9:06',
      },
    });
  });

  it.each<[string, Partial<Started>, number | null]>([
    ['first', {}, null],
    ['unloaded', {}, 4096],
    ['window_changed', {}, 8192],
    ['continued', { cachedTokens: 990, earlier: { commonTokens: 990 } }, 4096],
    ['continued', { cachedTokens: 990 }, 4096],
    ['evicted', { cachedTokens: 100, earlier: { commonTokens: 900 } }, 4096],
    ['evicted', { ...changed(), cachedTokens: 0 }, 4096],
    ['no_checkpoint', { cache: cacheMiss('no_checkpoint'), ...changed(), cachedTokens: 0 }, 4096],
    ['timestamp', { cache: cacheMiss('no_checkpoint'), ...changed() }, 4096],
    ['timestamp', { cache: cacheMiss('differs'), ...changed() }, 4096],
    ['unloaded', { cache: cacheMiss('cold') }, 4096],
  ])('name %s', (reason, event, lastNumCtx) => {
    const log = new CacheLog(clock);
    if (lastNumCtx !== null) note(log, caller({ requestId: 'before' }), started({ numCtx: lastNumCtx }));
    note(log, caller(), started(event));
    expect(log.why('owner', 'req_1').reason).toBe(reason);
  });

  it('are told to their owner only', () => {
    const log = new CacheLog(clock);
    note(log, caller(), started());
    expect(() => log.why('another', 'req_1')).toThrow('There is no cache report');
    note(log, caller({ owner: 'another' }), started({ numCtx: 1 }));
    expect(log.why('owner', 'req_1').num_ctx).toBe(4096);
    expect(log.why('another', 'req_1').num_ctx).toBe(1);
  });

  it('are bounded, and those of one owner stay however many another asks for', () => {
    const log = new CacheLog(clock, { reports: 3, clients: 3 });
    note(log, caller({ owner: 'two' }), started());
    for (const requestId of ['a', 'b', 'c', 'd'])
      note(log, caller({ requestId, clientKey: requestId }), started());
    expect(() => log.why('owner', 'b')).toThrow('There is no cache report');
    expect(log.why('owner', 'c').request_id).toBe('c');
    expect(log.why('two', 'req_1').request_id).toBe('req_1');
    // What is known of its client's last request is there as well.
    note(log, caller({ owner: 'two', requestId: 'next' }), started());
    expect(log.why('two', 'next').reason).toBe('unloaded');
  });

  it('count the first answer of several, and pass everything on', () => {
    const log = new CacheLog(clock);
    const heard: string[] = [];
    const account = { onModel: (id: string) => heard.push(id), onEvent: () => heard.push('event') };
    const watched = log.watch(caller({ account }), 'm');
    watched.onModel('m');
    watched.onEvent({ type: 'started', ...started() });
    watched.onEvent({ type: 'started', ...started({ cachedTokens: 999 }) });
    expect(heard).toEqual(['m', 'event', 'event']);
    expect(log.why('owner', 'req_1').cached_tokens).toBe(0);
  });
});

describe('the warning', () => {
  it('comes to a client that changes the same place at each turn, and goes when it stops', () => {
    const log = new CacheLog(clock);
    const turns = (count: number, fields: Partial<Started>) => {
      for (let turn = 0; turn < count; turn += 1) note(log, caller(), started(fields));
      return log.warning(caller(), 'm');
    };
    expect(turns(2, changed())).toBeNull();
    expect(turns(1, changed())).toBe(
      'Message 0 (system) holds a time that is different in each request, at each turn',
    );
    expect(log.warning(caller({ clientKey: 'other' }), 'm')).toBeNull();
    expect(log.warning(caller(), 'other')).toBeNull();
    expect(turns(1, { earlier: { commonTokens: 990 }, cachedTokens: 990 })).toBeNull();
    expect(turns(2, changed())).toBeNull();
    expect(turns(1, changed({ place: { kind: 'message', index: 3, name: 'user' } }))).toBeNull();
  });

  it('does not come for other questions behind the same beginning', () => {
    const log = new CacheLog(clock);
    const question = changed({ cause: 'text_changed', isHistory: false });
    for (let turn = 0; turn < 9; turn += 1) note(log, caller(), started(question));
    expect(log.warning(caller(), 'm')).toBeNull();
    expect(log.why('owner', 'req_1')).toMatchObject({
      explanation: 'Message 0 (system) is where another conversation begins.',
      advice: null,
    });
  });
});

function cacheMiss(reason: 'no_checkpoint' | 'differs' | 'cold'): NonNullable<Started['cache']> {
  const near = { wanted: [], held: [], before: 0 };
  return {
    slotTokens: 0,
    ramTokens: 0,
    diskTokens: 0,
    restoreMs: 0,
    miss: { reason, commonTokens: 0, ...near },
  };
}
