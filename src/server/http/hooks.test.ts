import fastify from 'fastify';
import { describe, expect, it } from 'vitest';
import { deferred } from '../../lib/base/deferred.ts';
import { type Route, routes } from '../../wire/routes.ts';
import { asSvcError, errorResponse } from './error-response.ts';
import { registerRoute } from './handlers/register.ts';
import { addHooks, requestId } from './hooks.ts';

describe('requestId', () => {
  it('keeps an id that is harmless in headers and logs', () => {
    for (const id of ['a', 'trace-1_2.3', 'x'.repeat(128)])
      expect(requestId({ 'x-request-id': id })).toBe(id);
  });

  it.each(['', ' ', 'a b', 'a\nb', '"', 'ü', '../..', 'x'.repeat(129)])('replaces %j', (id) => {
    expect(requestId({ 'x-request-id': id })).toMatch(/^req_[0-9a-f-]{36}$/);
  });

  it('makes one of its own when there is none, or a list of them', () => {
    expect(requestId({})).not.toBe(requestId({}));
    expect(requestId({ 'x-request-id': ['a', 'b'] })).toMatch(/^req_/);
  });
});

describe('the access flags of a route', () => {
  const ask = (
    { method, path, authenticated, early = false }: Route,
    options: { opened?: Promise<void>; headers?: Record<string, string> } = {},
  ) => {
    const app = fastify();
    app.setErrorHandler((error, _request, reply) =>
      reply.code(errorResponse(asSvcError(error)).status).send(),
    );
    const access = {
      allowedHosts: [],
      allowedOrigins: [],
      allowLocalPages: false,
      allowDockerHost: false,
      apiKey: 'secret',
      ownHosts: () => [],
      needsKey: false,
    };
    const keys = { hasKeys: false, findHolder: () => null, refresh: async () => {} };
    const opened = options.opened ?? Promise.resolve();
    const process = { instanceId: 'svc-x', bootId: 'boot' };
    addHooks(app, {
      access,
      process,
      pageToken: 'token',
      keys,
      isDraining: () => false,
      opened,
      acquire: () => undefined,
      queueFull: () => null,
    });
    registerRoute(app, { name: 'x', method, path, summary: '', authenticated, early }, async () => ({}));
    return app.inject({ method, url: path, headers: { host: 'localhost', ...options.headers } });
  };
  const table: readonly Route[] = Object.values(routes);

  it.each(table)('decide who may call $path', async (route) => {
    expect((await ask({ ...route, authenticated: true })).statusCode).toBe(401);
    const key = { 'x-api-key': 'secret' };
    expect((await ask({ ...route, authenticated: true }, { headers: key })).statusCode).toBe(200);
    expect((await ask({ ...route, authenticated: false })).statusCode).toBe(200);
  });

  it('decide whether it answers while the service starts', async () => {
    const opened = deferred<void>();
    const events: unknown[] = [];
    const note = (event: string, asked: ReturnType<typeof ask>) =>
      asked.then(({ statusCode }) => events.push([event, statusCode]));
    const open = { ...routes.models, authenticated: false };
    // Asked first, so it would also be answered first if it did not wait.
    const waiting = note('waiting', ask(open, { opened: opened.promise }));
    await note('early', ask({ ...open, early: true }, { opened: opened.promise }));
    events.push('opened');
    opened.resolve();
    await waiting;
    expect(events).toEqual([['early', 200], 'opened', ['waiting', 200]]);
  });

  it('leave the probes open and the files of the page, and nothing else', () => {
    const open = table.filter(({ authenticated }) => !authenticated);
    expect(open).toEqual([routes.health, routes.ready, routes.pageRoot, routes.page]);
    expect(table.filter(({ early }) => early === true)).toEqual([routes.health, routes.ready]);
    expect(table.filter(({ anyHost }) => anyHost === true)).toEqual([routes.ready]);
  });
});
