/** A path that almost names a route: the 404 names the route that is meant. */
import { describe, expect, it } from 'vitest';
import { type Route, routes } from '../../src/wire/routes.ts';
import { scriptedService } from '../support/http/scripted-service.ts';

const service = scriptedService();
const table: readonly Route[] = Object.values(routes);
const served = table.filter(({ hidden, path }) => hidden !== true && path !== '/');
const filled = (path: string): string => path.replace('*', 'owner/name').replaceAll(/:\w+/g, 'some-id');
const isRoute = (path: string): boolean =>
  served.some((route) => {
    const pattern = route.path.replace('*', '.*').replaceAll(/:\w+/g, '[^/]*');
    return new RegExp(`^${pattern}$`).test(path);
  });

/** Some routes are served with and without /v1. */
const twinOf = (path: string): string => {
  const twin = path.startsWith('/v1/') ? path.slice(3) : `/v1${path}`;
  return isRoute(twin) ? twin : path;
};

const MISTAKES: readonly (readonly [string, (path: string) => string])[] = [
  ['without /v1', (path) => path.replace(/^\/v1/, '')],
  ['with /v1 doubled', (path) => `/v1${path}`],
  ['with a prefix of a proxy', (path) => `/api${path.replace(/^\/v1/, '')}`],
  ['with a slash at the end', (path) => `${path}/`],
  ['with a slash doubled', (path) => path.replace(/\/(?=[^/]+$)/, '//')],
  ['behind itself', (path) => `${path}${path.replace(/^\/v1/, '')}`],
];

const cases = served
  .flatMap(({ method, path }) =>
    MISTAKES.map(([name, mistake]) => ({ name, method, right: filled(path), wrong: mistake(filled(path)) })),
  )
  .filter(({ wrong }) => !isRoute(wrong));

describe('a path that is no route', () => {
  it.each(cases)('$method $wrong ($name) names $right', async ({ method, right, wrong }) => {
    const { status, body } = await service.client.ask({ method, path: wrong });
    expect([status, body.code]).toEqual([404, 'route_not_found']);
    const [, named] = /; use (\S+ \S+)\.$/.exec(body.error) ?? [];
    expect([right, twinOf(right)].map((path) => `${method} ${path}`)).toContain(named);
  });

  it('covers each route of the table', () => {
    expect(new Set(cases.map(({ method, right }) => `${method} ${right}`)).size).toBe(served.length);
  });

  it('names the method as well', async () => {
    const { body } = await service.client.get('/chat/completions');
    expect(body.error).toMatch(/; use POST \/v1\/chat\/completions\.$/);
  });

  it.each(['/v2', '/v1/engines', '/completions/x', '/favicon.ico'])('%s means none', async (path) => {
    const { body } = await service.client.get(path);
    expect(body.error).toMatch(/list the routes\.$/);
  });
});

describe('the list of models', () => {
  it('is named where the id is empty', async () => {
    const { status, body } = await service.client.get('/v1/models/');
    expect([status, body.error]).toEqual([
      404,
      expect.stringMatching(/\/v1\/models\/; use GET \/v1\/models\.$/),
    ]);
  });
});
