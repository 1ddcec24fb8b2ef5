/** Several upstreams of one model: who is asked, what follows when one fails, and how it is told. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type Fault,
  FAULTS,
  type ScriptedUpstream,
  startUpstream,
  TALE,
} from '../support/upstream/scripted-upstream.ts';
import { addKey } from '../../src/store/keys/key-file.ts';
import type { EngineState } from '../../src/wire/operation/engine-state.ts';
import { checkAnswer } from '../support/http/schema-check.ts';
import { type EngineService, knownModel, startEngines } from '../support/upstream/service.ts';

const NAMES = ['ann', 'bob', 'cid'] as const;
const upstreams: ScriptedUpstream[] = [];
let engines: EngineService;

beforeAll(async () => {
  // Health is not what this file is about, and failures are what it makes.
  engines = await startEngines(
    {},
    { balance: { failuresUntilDown: 1_000, downMs: 0, busyMs: 0, loadProbeMs: 50, idleProbeMs: 100 } },
  );
  for (const name of NAMES) {
    const upstream = await startUpstream();
    upstream.models = ['tale', 'good', 'embed-768'];
    upstreams.push(upstream);
    await engines.add(
      {
        name,
        baseUrl: `${upstream.url}/v1`,
        dialect: 'vllm',
        deadlines: { connectMs: 2_000, firstByteMs: 1_000, stallMs: 1_000, wholeMs: 60_000 },
        known: [knownModel('tale')],
      },
      ['tale'],
    );
  }
  const pool = { schema: 1, type: 'pool', addedAt: '2026-01-01T00:00:00Z' } as const;
  const members = NAMES.map((name) => `${name}/tale`);
  await engines.engines.put({ ...pool, name: 'tale', members, equalWeights: true });
  await engines.engines.put({ ...pool, name: 'other-weights', members, equalWeights: false });
});

afterAll(async () => {
  await engines.close();
  for (const upstream of upstreams) await upstream.close();
});

beforeEach(() => {
  for (const upstream of upstreams) upstream.faultOf = () => null;
});

const ask = (fields: object = {}) => ({
  model: 'tale',
  messages: [{ role: 'user', content: 'Go.' }],
  ...fields,
});
/** Each of the next requests, wherever it goes, meets the next of these. */
function failing(...faults: readonly (Fault | null)[]): void {
  const queue = [...faults];
  for (const upstream of upstreams) upstream.faultOf = () => queue.shift() ?? null;
}

interface Line {
  readonly requestId?: string;
}

const lines = (log: string, requestId: string): Line[] =>
  log
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line)
    .filter((line) => line.requestId === requestId);

/** Once its response is over, which its client may see before. */
async function record(requestId: string) {
  while (true) {
    const { body } = await engines.service.client.get('/svc/requests');
    const found = body.data.find((view: { request_id: string }) => view.request_id === requestId);
    if (found !== undefined) return found;
  }
}

describe('before the first byte', () => {
  // A reset is left out: on a kept connection the same upstream is asked once more, for it may have closed it before.
  it.each(['rubbish', 'ends', 'error', 'stall', 'refused'] as const)(
    'another upstream answers at once: %s',
    async (kind) => {
      failing({ after: 0, kind });
      const { status, headers, body } = await engines.service.client.chat(ask());
      expect([status, body.choices?.[0].message.content]).toEqual([200, TALE]);
      expect(headers['x-svc-upstream']).toMatch(/^(\w+); instead-of="(?!\1")\w+"; because="\w+"$/);
    },
  );

  it('a stream does not show that there was another', async () => {
    failing({ after: 0, kind: 'error' });
    const stream = await engines.service.client.streamChat(ask());
    expect(stream.headers['x-svc-upstream']).toContain('instead-of');
    const { text, done } = await stream.all();
    expect([text, done]).toEqual([TALE, true]);
  });

  it('the failover is followed by request: in the log, and in the record of the request', async () => {
    failing({ after: 0, kind: 'rubbish' });
    const traced = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' };
    const { headers } = await engines.service.client.chat(ask(), { 'x-request-id': 'moved', ...traced });
    const [, upstream, insteadOf, because] =
      /^(\w+); instead-of="(\w+)"; because="(\w+)"$/.exec(String(headers['x-svc-upstream'])) ?? [];
    expect(because).toBe('broken');
    expect(lines(engines.log(), 'moved')).toEqual([
      expect.objectContaining({ upstream: insteadOf, next: upstream, kind: because, step: 'retry' }),
    ]);
    expect(await record('moved')).toMatchObject({
      upstream,
      instead_of: insteadOf,
      because,
      trace_id: '0af7651916cd43dd8448eb211c80319c',
    });
    expect(lines(engines.service.log(), 'moved')).toEqual([
      expect.objectContaining({
        upstream,
        insteadOf,
        because,
        traceId: '0af7651916cd43dd8448eb211c80319c',
      }),
    ]);
  });

  it('two are asked, not all: the second failure is told, by name', async () => {
    failing({ after: 0, kind: 'rubbish' }, { after: 0, kind: 'rubbish' }, null);
    const { status, body } = await engines.service.client.chat(ask());
    expect([status, body.code]).toEqual([503, 'upstream_broken']);
    expect(body.message).toMatch(/upstream "(ann|bob|cid)"/);
  });

  it('none is asked again when the client has stopped waiting', async () => {
    failing({ after: 0, kind: 'stall' });
    const { body } = await engines.service.client.chat(ask(), { 'x-stainless-timeout': '1' });
    expect(body.code).toBe('upstream_timeout');
  });
});

describe('after the first byte', () => {
  const streamed = async (fields: object = {}) =>
    (await engines.service.client.streamChat(ask(fields))).all();

  it.each(FAULTS)('the failure is told, never passed over: %s', async (kind) => {
    failing({ after: 20, kind });
    const { text, done, error } = await streamed();
    expect([TALE.startsWith(text), text.length < TALE.length, done]).toEqual([true, true, false]);
    expect(error?.message).toMatch(/upstream "(ann|bob|cid)"/i);
  });

  it.each(FAULTS)('with svc_resume the answer goes on elsewhere, without a seam: %s', async (kind) => {
    failing({ after: 20, kind });
    const { text, done, chunks } = await streamed({ svc_resume: true });
    expect([text, done]).toEqual([TALE, true]);
    const last = chunks.at(-1);
    const { after_characters: after = 0 } = last?.svc_resumed ?? {};
    // What arrives together with the failure may be lost with it, and is said anew.
    expect(after > 0 && after <= (TALE.match(/^(\s*\S+){20}/)?.[0].length ?? 0)).toBe(true);
    expect(last?.svc_resumed?.from).not.toBe(last?.svc_resumed?.on);
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
  });

  it('a whole answer goes on too, and says so; its record names the upstream that ended it', async () => {
    failing({ after: 199, kind: 'reset' });
    const { headers, body } = await engines.service.client.chat(ask({ svc_resume: true }), {
      'x-request-id': 'resumed',
    });
    expect(body.choices[0].message.content).toBe(TALE);
    const { from, on, because } = body.svc_resumed;
    expect(because).toBe('broken');
    expect(headers['x-svc-upstream']).toBe(from);
    expect(await record('resumed')).toMatchObject({ upstream: on, instead_of: from, because });
  });

  it('the limit on tokens holds over both parts', async () => {
    failing({ after: 20, kind: 'reset' });
    const { text, chunks } = await streamed({ svc_resume: true, max_tokens: 50 });
    expect(text).toBe(TALE.match(/^(\s*\S+){50}/)?.[0]);
    expect(chunks.at(-1)?.svc_resumed).toBeDefined();
  });

  it('not where the weights may differ, and the reason is told', async () => {
    failing({ after: 20, kind: 'reset' });
    const { error, done } = await streamed({ model: 'other-weights', svc_resume: true });
    expect([error?.code, done]).toEqual(['answer_not_resumed', false]);
    expect(error?.message).toContain('no other upstream');
  });
});

describe('privacy', () => {
  it('a request that must stay on this machine goes to no other', async () => {
    await engines.add({ name: 'far', baseUrl: `${upstreams[0]?.url}/v1`, privacy: 'remote' }, [
      'tale',
      'embed-768',
    ]);
    const asked = () => upstreams[0]?.requests.filter(({ body }) => body !== undefined).length;
    const before = asked();
    const { status, body } = await engines.service.client.chat(ask({ model: 'far/tale' }), {
      'x-svc-local-only': '1',
    });
    expect([status, body.code]).toEqual([403, 'upstreams_private']);
    const vectors = await engines.service.client.embed(
      { model: 'far/embed-768', input: 'x' },
      { 'x-svc-local-only': '1' },
    );
    expect([vectors.status, vectors.body.code]).toEqual([403, 'upstreams_private']);
    expect(asked()).toBe(before);
  });

  it('a pool that is marked local goes to no other member, with whatever a request says', async () => {
    await engines.add({ name: 'far', baseUrl: `${upstreams[0]?.url}/v1`, privacy: 'remote' }, ['tale']);
    const pool = { schema: 1, type: 'pool', equalWeights: true, addedAt: '2026-01-01T00:00:00Z' } as const;
    const local = { ...pool, privacy: 'local' } as const;
    await engines.engines.put({ ...local, name: 'kept', members: ['far/tale', 'bob/tale'] });
    await engines.engines.put({ ...local, name: 'alone', members: ['far/tale'] });
    const went = new Set<unknown>();
    for (let index = 0; index < 6; index += 1) {
      const words = [{ role: 'user', content: `Go ${index}.` }];
      const { headers } = await engines.service.client.chat(
        ask({ model: 'kept', max_tokens: 1, messages: words }),
      );
      went.add(headers['x-svc-upstream']);
    }
    expect([...went]).toEqual(['bob']);
    expect((await engines.service.client.chat(ask({ model: 'alone' }))).body.code).toBe('upstreams_private');
  });

  it('a model that is marked goes no farther, neither by its own name nor as a member of a pool', async () => {
    const url = `${upstreams[0]?.url}/v1`;
    const upstream = { name: 'off', baseUrl: url, privacy: 'remote', limits: { tale: 'local' } } as const;
    await engines.add({ ...upstream, aliases: { story: 'tale' } }, ['tale', 'good']);
    const pool = { schema: 1, type: 'pool', equalWeights: true, addedAt: '2026-01-01T00:00:00Z' } as const;
    await engines.engines.put({ ...pool, name: 'mixed', members: ['off/tale', 'off/good'] });
    const codeOf = async (model: string) => {
      const { status, body } = await engines.service.client.chat(ask({ model, max_tokens: 1 }));
      return body.code ?? status;
    };
    // The pool has a member that is not marked, which must not get what the marked one may not have.
    expect([await codeOf('off/tale'), await codeOf('story'), await codeOf('mixed')]).toEqual(
      Array(3).fill('upstreams_private'),
    );
    expect(await codeOf('off/good')).toBe(200);
    await engines.add({ ...upstream, limits: { tale: 'remote' } }, ['tale', 'good']);
    expect([await codeOf('off/tale'), await codeOf('mixed')]).toEqual([200, 200]);
  });
});

describe('what is seen', () => {
  it('states, counts and times of upstreams', async () => {
    const { body } = await engines.service.client.get('/svc/residency');
    const names = body.upstreams.map(({ name }: { name: string }) => name);
    expect(names).toEqual(expect.arrayContaining([...NAMES]));
    const sum = (member: string) =>
      body.upstreams.reduce((total: number, each: Record<string, number>) => total + (each[member] ?? 0), 0);
    expect(sum('failovers')).toBeGreaterThan(5);
    expect(sum('resumptions')).toBeGreaterThan(5);
    expect(sum('in_flight')).toBe(0);
    const text = await (await fetch(`${engines.service.url}/metrics`)).text();
    expect(text).toMatch(/^hearth_upstream_failures_total\{upstream="\w+",kind="broken"\} [1-9]/m);
    expect(text).toMatch(/^hearth_upstream_state\{upstream="ann",state="(ready|busy|down)"\} 1$/m);
    expect(text).toMatch(/^hearth_upstream_requests_total\{upstream="bob"\} [1-9]/m);
  });

  it('the same in the state of the engine, with what the upstream says of its load', async () => {
    const [ann] = upstreams;
    if (ann === undefined) throw new Error('there is no upstream');
    ann.pages = {
      '/metrics': 'vllm:num_requests_running 3\nvllm:num_requests_waiting 0\nvllm:kv_cache_usage_perc 0.5\n',
    };
    const state = async (): Promise<EngineState> => (await engines.service.client.get('/svc/engine')).body;
    await expect
      .poll(async () => {
        await engines.service.client.chat(ask({ model: 'ann/tale', max_tokens: 1 }));
        return (await state()).upstreams['ann'];
      })
      .toMatchObject({ dialect: 'vllm', privacy: 'local', state: 'ready', running: 3, kv_use: 0.5 });
    checkAnswer('GET', '/svc/engine', 200, await state());
    expect((await state()).models['ann/tale']).toMatchObject({ engine: 'remote', place: 'ann' });
  });

  it('the trace and the request id go on to the upstream', async () => {
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    const headers = { traceparent, tracestate: 'a=b', 'x-request-id': 'req-77' };
    await engines.service.client.chat(ask({ max_tokens: 1 }), headers);
    const sent = upstreams.flatMap(({ requests }) => requests).map((request) => request.headers);
    expect(sent).toContainEqual(expect.objectContaining(headers));
  });

  it('a session stays where it was', async () => {
    const from = async (content: string) => {
      const { headers } = await engines.service.client.chat(
        ask({ prompt_cache_key: 'me', max_tokens: 1, messages: [{ role: 'user', content }] }),
      );
      return headers['x-svc-upstream'];
    };
    const first = await from('one');
    for (const word of ['two', 'three', 'four', 'five']) expect(await from(word)).toBe(first);
  });
});

// The last: from the first named key on, every request needs one.
describe('a key that is local-only', () => {
  it('reaches upstreams and members of pools on this machine, and no others', async () => {
    await engines.add({ name: 'far', baseUrl: `${upstreams[0]?.url}/v1`, privacy: 'remote' }, ['tale']);
    const pool = { schema: 1, type: 'pool', equalWeights: true, addedAt: '2026-01-01T00:00:00Z' } as const;
    await engines.engines.put({ ...pool, name: 'mixed', members: ['far/tale', 'cid/tale'] });
    const rights = { name: 'kept', admin: false, localOnly: true };
    const { key } = await addKey(engines.service.home, rights, Date.now());
    const chat = async (model: string) => {
      const headers = { authorization: `Bearer ${key}` };
      const reply = await engines.service.client.chat(ask({ model, max_tokens: 1 }), headers);
      return [reply.status, reply.body.code ?? reply.headers['x-svc-upstream']];
    };
    expect(await chat('far/tale')).toEqual([403, 'key_local_only']);
    expect(await chat('cid/tale')).toEqual([200, 'cid']);
    for (let index = 0; index < 4; index += 1) expect(await chat('mixed')).toEqual([200, 'cid']);
  });
});
