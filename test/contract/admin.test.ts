/** What changes the installed models: for the page of this service and holders of a key, and for no other page, each route. */
import { execFile } from 'node:child_process';
import { copyFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { describe, expect, it } from 'vitest';
import { type Route, routes } from '../../src/wire/routes.ts';
import { installed, PAGE_TOKEN, scriptedService } from '../support/http/scripted-service.ts';
import { temporaryFolder } from '../support/temp-home.ts';
import { tinyModels } from '../support/tiny-models.ts';

const open = scriptedService();
const keyed = scriptedService({ apiKey: 'sk-admin' });
const token = { 'x-svc-page-token': PAGE_TOKEN };

const bodies: Record<string, object> = {
  pull_model: { ref: 'acme/nothing' },
  import_model: { path: '/nowhere/x.gguf' },
  alias_model: { model: installed.chat, alias: 'other' },
  quit: {},
  stop_job: { job: 'of-nobody' },
  set_model: { model: installed.chat, settings: {} },
};
const queries: Record<string, string> = { quants: '?ref=acme/nothing', search_models: '?words=nothing' };
const adminRoutes = Object.values<Route>(routes).filter(
  ({ admin }) => admin === 'always' || admin === 'from pages' || admin === 'of owner',
);

function call(service: typeof open, route: Route, headers: Record<string, string> = {}) {
  const url = route.path + (queries[route.name] ?? '');
  const body = route.method === 'POST' ? (bodies[route.name] ?? { model: 'nobody' }) : undefined;
  return service.client.ask({ method: route.method, path: url, body, headers });
}

describe.each(adminRoutes)('$method $path', (route) => {
  it('is not for a page of another site, by any trick', async () => {
    const origin = { origin: 'https://evil.example' };
    expect((await call(open, route, { ...origin, ...token })).body.code).toBe('forbidden_origin');
    // DNS rebinding: the name is the site's own, and so is the origin.
    const rebound = { host: 'evil.example', origin: 'http://evil.example', ...token };
    expect((await call(open, route, rebound)).body.code).toBe('forbidden_host');
    const hidden = { 'sec-fetch-site': 'cross-site', ...token };
    expect((await call(open, route, hidden)).body.code).toBe('hidden_origin');
    // Same origin, but it never asked for the token: what a form or a link could do.
    const form = { origin: open.url, 'sec-fetch-site': 'same-origin' };
    const refused = route.admin === 'of owner' ? 'owner_required' : 'page_token_required';
    expect((await call(open, route, form)).body.code).toBe(refused);
    const wrong = { ...form, 'x-svc-page-token': 'a-guess' };
    expect((await call(open, route, wrong)).body.code).toBe(refused);
  });

  it('lets the page in by its token, and a program by the key', async () => {
    const page = { origin: open.url, 'sec-fetch-site': 'same-origin', ...token };
    expect((await call(open, route, page)).status).not.toBe(403);
    expect((await call(keyed, route, { authorization: '' })).status).toBe(401);
    // What names files of this machine is not for a key alone.
    const isOwners = route.admin === 'of owner';
    expect((await call(keyed, route)).status === 403).toBe(isOwners);
    expect((await call(keyed, route, token)).status).not.toBe(403);
  });
});

describe('the end of the service', () => {
  it('is begun by a request of the user that runs it, after the answer', async () => {
    const before = open.quits.length;
    expect((await open.client.post('/svc/quit', {}, token)).body).toEqual({ ending: true });
    expect((await open.client.post('/svc/quit', { now: true }, token)).status).toBe(200);
    await expect.poll(() => open.quits.slice(before)).toEqual([false, true]);
  });

  it('is for nobody else, and does not begin by a refused request', async () => {
    const before = keyed.quits.length;
    expect((await keyed.client.post('/svc/quit', {})).body.code).toBe('owner_required');
    expect((await open.client.post('/svc/quit', {})).status).toBe(403);
    expect((await keyed.client.post('/svc/quit', { now: 'yes' }, token)).status).toBe(400);
    expect(keyed.quits.length).toBe(before);
  });
});

describe('the token of the page', () => {
  const ask = (headers: Record<string, string>) =>
    open.client.ask({ method: 'POST', path: '/svc/page-token', headers });

  it('is for the page of this very address', async () => {
    expect((await ask({ origin: open.url, 'sec-fetch-site': 'same-origin' })).body).toEqual({
      token: PAGE_TOKEN,
    });
  });

  it.each([
    ['nobody that says where it comes from', {}],
    ['a page on another port', { origin: 'http://localhost:3000' }],
    ['a page that only says the right origin', { 'sec-fetch-site': 'same-site' }],
  ])('is not for %s', async (_, headers: Record<string, string>) => {
    expect((await ask(headers)).status).toBe(403);
  });

  it.each(['forwarded', 'via', 'x-forwarded-for', 'x-real-ip'])(
    'is not for whom a proxy with %s asks',
    async (header) => {
      const own = { origin: open.url, 'sec-fetch-site': 'same-origin' };
      expect((await ask({ ...own, [header]: '192.0.2.7' })).body.code).toBe('page_user_unproven');
    },
  );

  it.skipIf(process.getuid?.() !== 0)(
    'is not for another user of this machine (needs root: skipped otherwise)',
    async () => {
      const own = { origin: open.url, 'sec-fetch-site': 'same-origin', 'content-length': '0' };
      const script = `fetch('${open.url}/svc/page-token', { method: 'POST', headers: ${JSON.stringify(own)} })
      .then((answer) => answer.text()).then(console.log)`;
      const asOther = async (uid: number) => {
        const { stdout } = await promisify(execFile)(process.execPath, ['-e', script], {
          uid,
          gid: uid,
          cwd: '/',
        });
        return stdout;
      };
      expect(await asOther(0)).toContain(PAGE_TOKEN);
      const refused = await asOther(65_534);
      expect(refused).toContain('page_user_unproven');
      expect(refused).not.toContain(PAGE_TOKEN);
    },
  );

  it('is not for a page that may call otherwise', async () => {
    const origin = { origin: open.url, 'sec-fetch-site': 'same-site' };
    expect((await ask(origin)).body.code).toBe('page_token_refused');
  });
});

describe('the library', () => {
  const post = (name: string, body: object) => open.client.post(`/svc/models/${name}`, body, token);

  async function events(name: string, body: object): Promise<EventSourceMessage[]> {
    const found: EventSourceMessage[] = [];
    const { text } = await post(name, body);
    createParser({ onEvent: (event) => void found.push(event) }).feed(text);
    return found;
  }

  it('shows, imports with progress, names, sets, checks and removes', async () => {
    const file = path.join(await temporaryFolder(), 'mine.gguf');
    await copyFile(tinyModels.chat, file);
    const imported = await events('import', { path: file, id: 'mine' });
    expect(imported.at(-1)).toMatchObject({ event: 'success', data: '{"id":"mine","ok":true}' });
    expect(imported[0]?.event).toBe('progress');
    expect((await post('default', { model: 'mine' })).body).toEqual({ model: 'mine' });
    await post('alias', { model: 'mine', alias: 'yours' });
    const set = await post('settings', { model: 'yours', settings: { num_ctx: '512', temperature: '0.5' } });
    expect(set.body).toMatchObject({
      model: 'mine',
      note: expect.stringContaining('A larger window comes with the next request'),
    });
    await post('settings', { model: 'mine', settings: { stop: 'END\nSTOP', kv_type: 'q8_0' } });
    const { body } = await open.client.get('/svc/models');
    expect(body.defaults.chat).toBe('mine');
    expect(body.models.find((model: { id: string }) => model.id === 'mine')).toMatchObject({
      kind: 'chat',
      aliases: ['yours'],
      params: { num_ctx: 512, temperature: 0.5, stop: ['END', 'STOP'] },
      texts: { num_ctx: '512', temperature: '0.5', stop: 'END\nSTOP', kv_type: 'q8_0' },
    });
    expect(body.restorable).toEqual(['shipped']);
    expect((await post('restore', { model: 'shipped' })).body).toEqual({ model: 'shipped' });
    expect((await events('verify', { model: 'mine' })).at(-1)?.data).toContain('"ok":true');
    // Never silently: a window beyond what the model can use.
    const wide = await post('settings', { model: 'mine', settings: { num_ctx: '100000' } });
    expect(wide.body.note).toMatch(/The window will be [\d,]+ tokens and not 100,000/);
    expect(wide.body.note).toContain(`be ${wide.body.num_ctx.toLocaleString('en-US')} tokens`);
    // It is not loaded, so there is nothing to unload.
    expect(wide.body.note).toMatch(/with the next load\.$/);
    expect((await post('remove', { model: 'yours' })).body.note).toMatch(/alias/);
    await post('remove', { model: 'mine' });
    expect((await open.client.get('/svc/models')).body.defaults.chat).not.toBe('mine');
  });

  it('refuses with the reason, before and within a stream', async () => {
    expect((await post('settings', { model: installed.chat, settings: { no: '1' } })).body.code).toBe(
      'unsupported_value',
    );
    const bad = await post('settings', { model: installed.chat, settings: { keep_alive: 'soon' } });
    expect(bad.body.error).toContain('30s');
    expect((await post('remove', { model: 'nobody' })).body.code).toBe('model_not_found');
    expect((await post('import', { path: '/nowhere/x.gguf' })).body.code).toBe('file_not_found');
    const [last] = (await events('pull', { ref: 'acme/nothing' })).slice(-1);
    expect(last === undefined || last.event === 'error').toBe(true);
    expect((await open.client.get(`/svc/models/plan?model=${installed.chat}`)).body).toMatchObject({
      model: installed.chat,
      loaded: true,
      slots: 4,
    });
  });
});
