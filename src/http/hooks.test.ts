import fastify from 'fastify';
import { describe, expect, it } from 'vitest';
import { type Route, routes } from '../wire/routes.ts';
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
    const access = { allowedHosts: [], allowedOrigins: [], apiKey: 'secret' };
    const opened = options.opened ?? Promise.resolve();
    const process = { instanceId: 'svc-x', bootId: 'boot' };
    addHooks(app, { access, process, isDraining: () => false, opened });
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
    const opened = new Promise<void>(() => {});
    const open = { ...routes.models, authenticated: false };
    expect((await ask({ ...open, early: true }, { opened })).statusCode).toBe(200);
    const waits = new Promise((resolve) => setTimeout(resolve, 50, 'waits'));
    expect(await Promise.race([ask(open, { opened }), waits])).toBe('waits');
  });

  it('leave /health open, and nothing else', () => {
    expect(table.filter(({ authenticated }) => !authenticated)).toEqual([routes.health]);
    expect(table.filter(({ early }) => early === true)).toEqual([routes.health]);
  });
});
