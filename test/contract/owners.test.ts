/** Whose a request is, and what is kept of it: always the key that let it in, whatever else its headers say. */
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { addKey } from '../../src/store/keys/key-file.ts';
import { type Route, routes } from '../../src/wire/routes.ts';
import { askRaw as ask, bearer, type Header } from '../support/http/raw-request.ts';
import { scriptedService } from '../support/http/scripted-service.ts';

const service = scriptedService({ apiKey: 'key-of-the-service' });
/** Without a key until a test makes one. */
const opened = scriptedService();

const named = async (home: string, name: string): Promise<string> =>
  (await addKey(home, { name, admin: true, localOnly: false }, Date.now())).key;

const keys: string[] = [];
/** The trust domain of each key, by requests that carry it and nothing else. */
const domains: string[] = [];

const domainOfLast = (): string | undefined => {
  const { job } = service.engine.lastJob.submission;
  return job.kind === 'generate' ? job.domain : undefined;
};

beforeAll(async () => {
  keys.push('key-of-the-service', await named(service.home, 'alice'), await named(service.home, 'mallory'));
  for (const key of keys) {
    await ask(service.url, '/v1/responses', [bearer(key)], { model: 'default', input: 'Hello' });
    domains.push(domainOfLast() ?? '');
  }
});

/** Values that a client may put in either header; a number stands for the key at that place. */
const valueOf = (keyed: (key: string) => fc.Arbitrary<string>) =>
  fc.nat(2).chain((at) => keyed(keys[at] as string));
const authorization = valueOf((key) =>
  fc.constantFrom(
    `Bearer ${key}`,
    `bearer  ${key}`,
    `BEARER\t${key}`,
    `Bearer ${key}x`,
    `Bearer ${key}, Bearer ${key}`,
    `Basic ${Buffer.from(`proxy:${key}`).toString('base64')}`,
    `Basic ${Buffer.from('proxy:shared').toString('base64')}`,
    `Digest username="${key}"`,
    key,
    'Bearer',
    'Bearer ',
    '',
  ),
).map((value): Header => ['Authorization', value]);
const apiKey = valueOf((key) => fc.constantFrom(key, key, ` ${key} `, `${key}, ${key}`, 'wrong', '')).map(
  (value): Header => ['X-Api-Key', value],
);
const names = fc.constantFrom(
  (name: string) => name,
  (name: string) => name.toLowerCase(),
  (name: string) => name.toUpperCase(),
);
const headers = fc
  .tuple(fc.array(authorization, { maxLength: 2 }), fc.array(apiKey, { maxLength: 2 }), names)
  .map(([first, second, spell]) =>
    [...first, ...second].map(([name, value]): Header => [spell(name), value]),
  );

/** The key that a request is let in by: its first bearer token, else the only value of the key header. */
function keyIn(sent: readonly Header[]): string | undefined {
  const valuesOf = (name: string) =>
    sent.filter(([each]) => each.toLowerCase() === name).map(([, value]) => value);
  const token = /^bearer[ \t]+(\S.*)$/i.exec(valuesOf('authorization')[0]?.trim() ?? '')?.[1];
  const offered =
    token ??
    valuesOf('x-api-key')
      .map((value) => value.trim())
      .join(', ');
  return keys.find((key) => key === offered);
}

describe('the owner of a request', () => {
  it('is another for each key', () => {
    expect(new Set(domains).size).toBe(3);
    expect(domains).not.toContain('');
  });

  it('is the key that let it in, in whatever headers and beside whatever others', async () => {
    let letIn = 0;
    await fc.assert(
      fc.asyncProperty(headers, async (sent) => {
        const key = keyIn(sent);
        const input = { model: 'default', input: 'Hello' };
        const id = `req-${letIn}`;
        const { status, body } = await ask(
          service.url,
          '/v1/responses',
          [...sent, ['X-Request-Id', id]],
          input,
        );
        expect([sent, status]).toEqual([sent, key === undefined ? 401 : 200]);
        if (key === undefined) return;
        letIn += 1;
        expect(domainOfLast()).toBe(domains[keys.indexOf(key)]);
        for (const other of keys) {
          const seen = other === key ? 200 : 404;
          const plain = [bearer(other)];
          expect((await ask(service.url, `/v1/responses/${body.id}`, plain)).status).toBe(seen);
          expect((await ask(service.url, `/svc/cache/why/${id}`, plain)).status).toBe(seen);
        }
      }),
      { numRuns: 150 },
    );
    expect(letIn).toBeGreaterThan(20);
  });
});

/** Every route that has a prompt evaluated, with the smallest body. */
const PROMPTS: Readonly<Record<string, object>> = {
  '/v1/chat/completions': { model: 'default', messages: [{ role: 'user', content: 'Hello' }] },
  '/v1/completions': { model: 'default', prompt: 'Hello' },
  '/v1/messages': { model: 'default', max_tokens: 4, messages: [{ role: 'user', content: 'Hello' }] },
  '/v1/responses': { model: 'default', input: 'Hello' },
  '/api/chat': { model: 'default', messages: [{ role: 'user', content: 'Hello' }], stream: false },
  '/api/generate': { model: 'default', prompt: 'Hello', stream: false },
  '/completion': { prompt: 'Hello' },
  '/infill': { input_prefix: 'a', input_suffix: 'b' },
};

describe('the prompt cache of a key', () => {
  it('names each route that evaluates prompts', () => {
    const known = Object.values<Route>(routes).filter(
      ({ method, path }) => method === 'POST' && path in PROMPTS,
    );
    expect(known).toHaveLength(Object.keys(PROMPTS).length);
  });

  it.each(Object.entries(PROMPTS))('is its own on %s, whatever stands beside the key', async (path, body) => {
    const [, alice = '', mallory = ''] = keys;
    const shared = `Basic ${Buffer.from('proxy:shared').toString('base64')}`;
    for (const beside of [shared, 'Bearer', `Digest username="${alice}"`, alice]) {
      for (const [at, key] of [alice, mallory].entries()) {
        const sent: Header[] = [
          ['Authorization', beside],
          ['X-Api-Key', key],
          ['X-Forwarded-User', 'alice'],
          ['Cookie', `key=${alice}`],
        ];
        expect((await ask(service.url, path, sent, body)).status).toBe(200);
        expect([beside, domainOfLast()]).toEqual([beside, domains[at + 1]]);
      }
    }
  });
});

describe('what was kept while no key was asked for', () => {
  it('is of nobody once keys exist, whatever stands beside the key', async () => {
    const asked = { model: 'default', input: 'Hello' };
    const early = await ask(opened.url, '/v1/responses', [['X-Request-Id', 'early']], asked);
    const reads = [
      `/v1/responses/${early.body.id}`,
      `/v1/responses/${early.body.id}/input_items`,
      '/svc/cache/why/early',
    ];
    for (const path of reads) expect((await ask(opened.url, path, [])).status).toBe(200);
    const key = await named(opened.home, 'mallory');
    const beside = ['', 'Bearer', 'Bearer ', 'Basic eDp5', 'Basic ', 'none'].map((value): Header[] => [
      ['Authorization', value],
      ['X-Api-Key', key],
    ]);
    for (const sent of [...beside, [bearer(key)], [['X-Api-Key', key]] satisfies Header[]]) {
      for (const path of reads) {
        const { status } = await ask(opened.url, path, sent);
        expect([sent[0]?.[1], path, status]).toEqual([sent[0]?.[1], path, 404]);
      }
      const on = await ask(opened.url, '/v1/responses', sent, {
        ...asked,
        previous_response_id: early.body.id,
      });
      expect(on.status).toBe(404);
    }
    for (const path of reads) expect((await ask(opened.url, path, [['X-Api-Key', '']])).status).toBe(401);
  });
});
