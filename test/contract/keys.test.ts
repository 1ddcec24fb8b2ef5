/** Named API keys over HTTP: who comes in, and that no limit is exceeded whatever arrives together. */
import { chmod, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { fail } from '../../src/lib/errors/svc-error.ts';
import { type Route, routes } from '../../src/wire/routes.ts';
import { addKey, keyFilePath, type KeyRecord, removeKey, rotateKey } from '../../src/store/keys/key-file.ts';
import { gate, started, text, done } from '../support/http/scripted-engine.ts';
import { HttpClient } from '../support/http/http-client.ts';
import { installed, scriptedService } from '../support/http/scripted-service.ts';

const service = scriptedService();
const messages = [{ role: 'user', content: 'Hello' }];

/** A client with a new key, which the service knows at once. */
async function holder(name: string, rights: Partial<KeyRecord> = {}): Promise<HttpClient & { key: string }> {
  const { key } = await addKey(service.home, { name, admin: false, localOnly: false, ...rights }, Date.now());
  const client = new HttpClient(service.url, { authorization: `Bearer ${key}` });
  return Object.assign(client, { key });
}

beforeAll(async () => {
  expect((await service.client.get('/v1/identity')).status).toBe(200);
  await holder('first');
  expect((await service.client.get('/v1/identity')).body.code).toBe('unauthorized');
});

describe('a named key', () => {
  it('is kept as a hash in a private file, and is asked for by every route but /health', async () => {
    const { key } = await holder('kept');
    const file = keyFilePath(service.home);
    expect(await readFile(file, 'utf8')).not.toContain(key);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await service.client.get('/v1/models')).body.code).toBe('unauthorized');
    expect((await service.client.get('/health')).status).toBe(200);
    const wrong = { authorization: `Bearer ${key.slice(0, -1)}x` };
    expect((await service.client.get('/v1/models', wrong)).body.code).toBe('unauthorized');
  });

  it('is refused when it was taken back, and when its time is over', async () => {
    const old = await holder('old', { expiresAt: '2026-01-01T00:00:00Z' });
    expect((await old.get('/v1/models')).body.code).toBe('key_expired');
    const gone = await holder('gone');
    expect((await gone.get('/v1/models')).status).toBe(200);
    await removeKey(service.home, 'gone');
    expect((await gone.get('/v1/models')).body.code).toBe('unauthorized');
  });

  it('that is rotated stays the same key: its limits, its use, its data, its cache and what runs', async () => {
    const before = await holder('rotating', { maxRequests: 1, tokensPerDay: 1_000 });
    const rotate = async (overlapMs: number): Promise<HttpClient> => {
      const { key } = await rotateKey(service.home, 'rotating', { overlapMs, nowMs: Date.now() });
      return new HttpClient(service.url, { authorization: `Bearer ${key}` });
    };
    const domain = (): unknown => {
      const { job } = service.engine.lastJob.submission;
      return job.kind === 'generate' ? job.domain : null;
    };
    const { body } = await before.post('/v1/responses', { model: installed.chat, input: 'Hello' });
    const domainBefore = domain();
    const wait = gate();
    service.engine.plays([started(), wait.opened, text('x'), done('stop', 1)]);
    const job = service.engine.nextJob();
    const running = before.chat({ messages });
    await job;
    const after = await rotate(3_600_000);
    for (const client of [before, after]) {
      expect((await client.get(`/v1/responses/${body.id}`)).status).toBe(200);
      expect((await client.chat({ messages })).body.code).toBe('key_busy');
    }
    wait.open();
    expect((await running).status).toBe(200);
    // A later rotation without overlap ends every earlier secret.
    const last = await rotate(0);
    for (const client of [before, after]) {
      const { status, body: refused } = await client.get('/v1/models');
      expect([status, refused.code]).toEqual([401, 'key_rotated']);
      expect(refused.error).toMatch(/^The API key "rotating" was rotated, .*; send the new one\.$/);
    }
    expect((await last.get(`/v1/responses/${body.id}`)).status).toBe(200);
    expect((await last.chat({ messages })).status).toBe(200);
    expect([domainBefore, domain()]).toEqual([expect.any(String), domainBefore]);
    const admin = await holder('rotation-auditor', { admin: true });
    const { data } = (await admin.get('/svc/keys')).body;
    const use = data.find(({ name }: { name: string }) => name === 'rotating');
    expect([use.tokens_today > 20, use.tokens_per_day, use.open_requests]).toEqual([true, 1_000, 0]);
  });

  it('opens its models only, and shows no others', async () => {
    const one = await holder('one', { models: [installed.chat] });
    expect((await one.chat({ model: installed.chat, messages })).status).toBe(200);
    const other = await one.chat({ model: installed.slashed, messages });
    expect([other.status, other.body.code]).toEqual([403, 'key_model_refused']);
    expect((await one.embed({ input: 'x' })).body.code).toBe('key_model_refused');
    const mistyped = (await one.chat({ model: 'tiny-chat2', messages })).body.error;
    expect(mistyped).toMatch(new RegExp(`did you mean ${installed.chat}\\? Otherwise`));
    const { body } = await one.get('/v1/models');
    expect(body.data.map(({ id }: { id: string }) => id)).toEqual([installed.chat]);
  });

  it('shows no others on the routes of the library and of Ollama either, except to an admin', async () => {
    const rights = { models: [installed.chat] };
    const one = await holder('reader', rights);
    const idsOf = (models: readonly { id: string }[]) => models.map(({ id }) => id);
    const { models, defaults, restorable, damaged } = (await one.get('/svc/models')).body;
    expect(idsOf(models)).toEqual([installed.chat]);
    expect([defaults.embedding, restorable, damaged]).toEqual([null, [], []]);
    expect((await one.get('/api/tags')).body.models).toMatchObject([{ name: installed.chat }]);
    const other = encodeURIComponent(installed.slashed);
    const hidden = ['plan', 'eval', 'passport'].map((about) => `/svc/models/${about}?model=${other}`);
    for (const route of [...hidden, `/v1/models/${installed.slashed}`]) {
      const { status, body } = await one.get(route);
      expect([status, body.code]).toEqual([403, 'key_model_refused']);
    }
    expect((await one.get(`/v1/models/${installed.chat}`)).status).toBe(200);
    expect((await one.get(`/svc/models/plan?model=${installed.chat}`)).status).toBe(200);
    const admin = await holder('librarian', { ...rights, admin: true });
    expect(idsOf((await admin.get('/svc/models')).body.models)).toContain(installed.slashed);
  });

  it('changes models only as an admin key, and is no way around the page', async () => {
    const user = await holder('user');
    const alias = { model: installed.chat, alias: 'theirs' };
    expect((await user.post('/svc/models/alias', alias)).body.code).toBe('admin_required');
    const token = { 'x-svc-page-token': 'the-token-of-the-page' };
    expect((await user.post('/svc/models/alias', alias, token)).body.code).toBe('admin_required');
    expect((await user.get('/svc/requests')).body.code).toBe('admin_required');
    const admin = await holder('admin', { admin: true });
    expect((await admin.post('/svc/models/alias', alias)).status).toBe(200);
    const taken = await admin.post('/svc/models/alias', { ...alias, model: installed.slashed });
    expect([taken.status, taken.body.code]).toEqual([409, 'name_taken']);
    expect(taken.body.error).toBe(
      `"theirs" is already an alias of model "${installed.chat}"; choose another name, or remove that alias: hearth rm theirs.`,
    );
    const uses = (await admin.get('/svc/keys')).body.data;
    expect(uses.find(({ name }: { name: string }) => name === 'one').tokens_today).toBe(10);
  });

  it('runs so many requests at a time, however many come at once', async () => {
    const two = await holder('two', { maxRequests: 2 });
    const wait = gate();
    service.engine.plays(
      ...Array.from({ length: 2 }, () => [started(), wait.opened, text('x'), done('stop', 1)]),
    );
    const asked = Array.from({ length: 8 }, () => two.chat({ messages }));
    const refused: unknown[] = [];
    for (const each of asked) void each.then((reply) => refused.push(reply));
    while (refused.length < 6) await new Promise((resolve) => setImmediate(resolve));
    wait.open();
    const replies = await Promise.all(asked);
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(2);
    expect(replies.filter(({ body }) => body.code === 'key_busy')).toHaveLength(6);
    expect((await two.chat({ messages })).status).toBe(200);
  });

  it('bounds requests at a time on every route that computes, and on no other', async () => {
    service.engine.forgetScripts();
    const single = await holder('one-at-a-time', { maxRequests: 1 });
    const wait = gate();
    service.engine.plays([started(), wait.opened, text('x'), done('stop', 1)]);
    const job = service.engine.nextJob();
    const running = single.chat({ messages });
    await job;
    const all: readonly Route[] = Object.values(routes);
    const computing = all.filter(({ computes }) => computes === true);
    const busy: string[] = [];
    for (const { method, path } of computing) {
      const { status, headers } = await single.ask({
        method,
        path,
        ...(method === 'POST' ? { body: {} } : {}),
      });
      if (status === 429 && headers['x-svc-error-code'] === 'key_busy') busy.push(path);
    }
    expect(busy.toSorted()).toEqual(
      [
        '/api/chat',
        '/api/embed',
        '/api/embeddings',
        '/api/generate',
        '/completion',
        '/infill',
        '/svc/cache/pins',
        '/svc/cache/unpin',
        '/svc/models/passport',
        '/tokenize',
        '/tokenizer_info',
        '/v1/chat/completions',
        '/v1/completions',
        '/v1/decisions',
        '/v1/detokenize',
        '/v1/embeddings',
        '/v1/messages',
        '/v1/messages/count_tokens',
        '/v1/rerank',
        '/v1/responses',
        '/v1/responses/compact',
        '/v1/responses/input_tokens',
        '/v1/tokenize',
      ].toSorted(),
    );
    expect((await single.get('/v1/models')).status).toBe(200);
    // What stops an answer is not kept out by it.
    expect((await single.post('/v1/responses/resp_none/cancel', {})).status).toBe(404);
    wait.open();
    expect((await running).status).toBe(200);
  });

  it('shows the figures of its own alone, unless it is an admin key', async () => {
    const curious = await holder('curious');
    const admin = await holder('watcher', { admin: true });
    const namesIn = async ({ key }: { key: string }): Promise<string[]> => {
      const page = await fetch(`${service.url}/metrics`, { headers: { authorization: `Bearer ${key}` } });
      const found = (await page.text()).matchAll(/^hearth_key_tokens_today\{key="([^"]*)"\}/gm);
      return [...found].map(([, name = '']) => name);
    };
    expect(await namesIn(curious)).toEqual(['curious']);
    expect(await namesIn(admin)).toEqual(expect.arrayContaining(['curious', 'watcher', 'first']));
  });

  it('sees the jobs of others without their names or request ids, unless it is an admin key', async () => {
    service.engine.forgetScripts();
    const curious = await holder('onlooker');
    const [alice, admin] = [await holder('asks'), await holder('overseer', { admin: true })];
    const wait = gate();
    service.engine.plays([started(), wait.opened, text('x'), done('stop', 1)]);
    const job = service.engine.nextJob();
    const running = alice.chat(
      { messages },
      { 'x-request-id': 'secret-id', 'x-svc-client-id': 'secret-name' },
    );
    const { submission } = await job;
    const listener = service.board.watchJob({
      jobId: submission.job.jobId,
      kind: 'generate',
      modelId: submission.target.modelId,
      clientName: submission.clientName ?? '',
      isFrozen: false,
    });
    const stream = async ({ key }: { key: string }): Promise<string> => {
      const stop = new AbortController();
      const headers = { authorization: `Bearer ${key}` };
      const { body } = await fetch(`${service.url}/svc/events`, { headers, signal: stop.signal });
      const { value } = await body!.pipeThrough(new TextDecoderStream()).getReader().read();
      stop.abort();
      return value ?? '';
    };
    for (const read of [async () => (await curious.get('/svc/engine')).text, () => stream(curious)]) {
      const seen = await read();
      expect(seen).toContain('queued');
      expect(seen).not.toMatch(/secret|"asks"/);
    }
    expect((await admin.get('/svc/engine')).body.clients).toEqual([
      { client: 'asks', queued: 1, running: 0 },
    ]);
    expect((await alice.get('/svc/engine')).body.clients).toEqual([
      { client: 'asks', queued: 1, running: 0 },
    ]);
    expect(await stream(admin)).not.toContain('secret');
    listener.onEnd(null);
    wait.open();
    expect((await running).status).toBe(200);
  });

  it('goes on counting for what runs in the background', async () => {
    const single = await holder('single', { maxRequests: 1 });
    const wait = gate();
    service.engine.plays([started(), wait.opened, text('x'), done('stop', 1)]);
    const asked = { model: installed.chat, input: 'Hello' };
    const { body } = await single.post('/v1/responses', { ...asked, background: true });
    expect(body.status).toBe('queued');
    expect((await single.chat({ messages })).body.code).toBe('key_busy');
    wait.open();
    const isOver = async () => (await single.get(`/v1/responses/${body.id}`)).body.status === 'completed';
    await expect.poll(isOver).toBe(true);
    expect((await single.chat({ messages })).status).toBe(200);
  });

  it('never uses more tokens a day than it may, whatever runs together', async () => {
    const poor = await holder('poor', { tokensPerDay: 100 });
    service.engine.plays(...Array.from({ length: 20 }, () => [started(4096, 7), text('x'), done('stop', 2)]));
    const replies = await Promise.all(
      Array.from({ length: 20 }, () => poor.chat({ messages, max_tokens: 2 })),
    );
    const ran = replies.filter(({ status }) => status === 200).length;
    for (const reply of replies.filter(({ status }) => status !== 200)) {
      expect(reply.body.code).toBe('key_tokens_used');
      expect(Number(reply.headers['retry-after'])).toBeGreaterThan(0);
    }
    expect(ran * 9).toBeLessThanOrEqual(100);
    expect(ran).toBeGreaterThan(0);
    // One after the other, all of the day can be used, and what does not fit is cut and says so.
    let last = { status: 200, tokens: 0 };
    while (last.status === 200) {
      service.engine.plays(({ job }) => {
        const most = job.kind === 'generate' ? (job.maxTokens ?? 0) : 0;
        return [started(4096, 7), text('x'), done('length', Math.min(30, most))];
      });
      const { status, body } = await poor.chat({ messages, max_tokens: 30 });
      last = { status, tokens: body.usage?.total_tokens ?? 0 };
    }
    service.engine.plays();
    const admin = await holder('auditor', { admin: true });
    const { data } = (await admin.get('/svc/keys')).body;
    const used = data.find(({ name }: { name: string }) => name === 'poor').tokens_today;
    expect(used).toBeLessThanOrEqual(100);
    expect(used).toBeGreaterThan(80);
  });

  it('counts what the template writes besides, and is refused for it only when too few tokens are left', async () => {
    service.engine.forgetScripts();
    const admin = await holder('accountant', { admin: true });
    const usedBy = async (name: string): Promise<number> => {
      const { data } = (await admin.get('/svc/keys')).body;
      return data.find((use: { name: string }) => use.name === name).tokens_today;
    };
    const promptTokens = 900;
    const usage = { promptTokens, cachedTokens: 0, completionTokens: 1, reasoningTokens: 0 };
    const over = {
      type: 'done',
      finishReason: 'length',
      usage,
      timings: { prefillMs: 1, decodeMs: 1 },
    } as const;
    for (const [name, tokensPerDay, used] of [
      ['unlimited', undefined, 901],
      ['enough', 901, 901],
      ['short', 900, 0],
      ['far-too-short', 40, 0],
    ] as const) {
      const asked = await holder(name, tokensPerDay === undefined ? {} : { tokensPerDay });
      service.engine.plays([started(4096, promptTokens), text('x'), over]);
      const { status, body } = await asked.chat({ messages, max_tokens: 1 });
      expect([name, status, body.code]).toEqual(
        used > 0 ? [name, 200, undefined] : [name, 429, 'key_tokens_used'],
      );
      if (used === 0) expect(body.error).toContain(`Of the ${tokensPerDay} tokens`);
      expect([name, await usedBy(name)]).toEqual([name, used]);
    }
    service.engine.forgetScripts();
  });

  it('counts every piece of an answer that breaks off, joined ones too', async () => {
    const asked = await holder('broken');
    const broken = fail('worker_crashed', { model: installed.chat, reason: 'exit code 1' });
    service.engine.plays([started(4096, 7), text('a'), { type: 'text', text: 'b c d', pieces: 3 }, broken]);
    expect((await asked.chat({ messages })).body.code).toBe('worker_crashed');
    expect(service.engine.lastJob.submission.job).toMatchObject({ isWhole: true });
    const { data } = (await (await holder('observer', { admin: true })).get('/svc/keys')).body;
    const { tokens_today: used } = data.find(({ name }: { name: string }) => name === 'broken');
    expect(used).toBe(7 + 4);
  });

  it('counts the prompts of an engine that tells their length at the end only', async () => {
    const far = await holder('far');
    service.engine.plays([started(4096, 0), text('x'), done('stop', 1)]);
    expect((await far.chat({ messages, max_tokens: 1 })).status).toBe(200);
    const admin = await holder('clerk', { admin: true });
    const { data } = (await admin.get('/svc/keys')).body;
    expect(data.find(({ name }: { name: string }) => name === 'far').tokens_today).toBe(8);
  });

  it('has an answer cut by the engine to what the prompt really leaves', async () => {
    const last = await holder('last', { tokensPerDay: 300 });
    service.engine.plays(({ job }) => {
      if (job.kind !== 'generate') throw new Error('no chat');
      expect(job.mostTokens).toBe(300);
      const left = Math.min(job.maxTokens ?? 0, (job.mostTokens ?? 0) - 250);
      return [
        started(4096, 250),
        ...Array.from({ length: left }, () => text('x')),
        {
          type: 'done',
          finishReason: 'length',
          usage: { promptTokens: 250, cachedTokens: 0, completionTokens: left, reasoningTokens: 0 },
          timings: { prefillMs: 1, decodeMs: 1 },
        },
      ];
    });
    const { status, body } = await last.chat({ messages, max_tokens: 1_000 });
    expect([status, body.usage.completion_tokens, body.choices[0].finish_reason]).toEqual([
      200,
      50,
      'length',
    ]);
  });

  it('lets nobody in while its file cannot be trusted', async () => {
    const { key } = await holder('trusting');
    const file = keyFilePath(service.home);
    const ask = () => service.client.get('/v1/models', { authorization: `Bearer ${key}` });
    await chmod(file, 0o644);
    expect(await ask()).toMatchObject({ status: 503, body: { code: 'key_file_unusable' } });
    await chmod(file, 0o600);
    expect((await ask()).status).toBe(200);
    expect(path.dirname(file)).toBe(service.home);
  });
});

describe('answers of several', () => {
  it('are counted each', async () => {
    const pair = await holder('pair', { tokensPerDay: 10_000 });
    const { usage } = (await pair.chat({ messages, n: 2, max_tokens: 5 })).body;
    const admin = await holder('counter', { admin: true });
    const { data } = (await admin.get('/svc/keys')).body;
    expect(data.find(({ name }: { name: string }) => name === 'pair').tokens_today).toBe(
      2 * 7 + usage.completion_tokens,
    );
  });
});
