/** The checks that the build writes are those of the schemas of the routes, in ajv's own words, and the same in each build. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { Ajv, type ValidateFunction } from 'ajv';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Route, routes } from '../../src/wire/routes.ts';
import { builtDist, builtSources } from '../support/process/hearth.ts';

const built = path.join(builtDist, 'server', 'http', 'route-checks.js');
const { routeChecks } = (await import(pathToFileURL(built).href)) as {
  routeChecks: Readonly<Record<string, ValidateFunction>>;
};

const { bundleRouteChecks } = (await import(
  new URL('../../scripts/bundle/route-checks.mjs', import.meta.url).href
)) as { bundleRouteChecks: (root: string, sources: string, folder: string) => Promise<void> };

const table: readonly Route[] = Object.values(routes);
const parts = table.flatMap(({ name, body, query }) =>
  Object.entries({ body, querystring: query }).flatMap(([part, schema]) =>
    schema === undefined ? [] : [[`${name} ${part}`, schema] as const],
  ),
);
const WRONG: readonly unknown[] = [null, true, -1, 1.5, '', 'x'.repeat(600), [], [[]], [{}], {}, { type: 7 }];

describe('the checks of routes', () => {
  it('are one for each schema of the table', () => {
    expect(Object.keys(routeChecks).toSorted()).toEqual(parts.map(([name]) => name).toSorted());
  });

  it.each(parts)('%s refuses what ajv refuses, in the same words', (name, schema) => {
    const check = routeChecks[name];
    const expected = new Ajv({ strict: false }).compile(schema);
    const members = Object.keys((schema as { properties?: object }).properties ?? {});
    const right = {
      model: 'm',
      messages: [{ role: 'user', content: 'x' }],
      prompt: 'x',
      input: 'x',
      max_tokens: 1,
    };
    const values = [
      ...WRONG,
      right,
      ...members.flatMap((key) => WRONG.map((value) => ({ ...right, [key]: value }))),
    ];
    for (const value of values) {
      const what = JSON.stringify(value).slice(0, 200);
      expect(check?.(value), what).toBe(expected(value));
      expect(check?.errors, what).toEqual(expected.errors);
    }
  });

  it('are the same bytes in each build', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'hearth-checks-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const root = path.dirname(builtDist);
    await bundleRouteChecks(root, builtSources, folder);
    expect(await readFile(path.join(folder, 'route-checks.js'), 'utf8')).toBe(await readFile(built, 'utf8'));
  });
});
