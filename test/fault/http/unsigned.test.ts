/** A request for a record is never answered without one by a route that gives none: each route of the table that runs a model. */
import { describe, expect, it } from 'vitest';
import { HEADERS } from '../../../src/wire/headers.ts';
import { type Route, routes } from '../../../src/wire/routes.ts';
import { scriptedService } from '../../support/http/scripted-service.ts';

const service = scriptedService();
const computing = Object.values<Route>(routes).filter(({ computes }) => computes === true);

describe.each(computing.map((route) => [`${route.method} ${route.path}`, route] as const))(
  '%s',
  (_, route) => {
    const { properties = {} } = (route.response ?? {}) as { properties?: object };
    const ask = (headers: Record<string, string>, body: object) =>
      fetch(`${service.url}${route.path.replace(/:\w+/, 'x')}`, {
        method: route.method,
        headers: { 'content-type': 'application/json', ...headers },
        ...(route.method === 'POST' ? { body: JSON.stringify(body) } : {}),
      });

    it('has a place for the record exactly where it gives records', () => {
      expect(route.signs === true).toBe(Object.hasOwn(properties, 'evidence'));
    });

    it('lists the field that asks for a record exactly where it gives records', () => {
      const { properties: fields = {} } = (route.body ?? {}) as { properties?: object };
      expect(Object.hasOwn(fields, 'svc_evidence')).toBe(route.signs === true);
    });

    if (route.signs === true) return;
    it('refuses to answer without the record', async () => {
      const reply = await ask({ [HEADERS.evidenceMode]: 'frozen-v1' }, {});
      const text = await reply.text();
      expect([reply.status, text]).toEqual([400, expect.stringContaining('gives no signed records')]);
    });
  },
);
