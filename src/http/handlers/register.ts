/** Registers routes of the table on fastify, and on each path the refusal of all methods that it does not answer. */
import type { FastifyInstance, HTTPMethods } from 'fastify';
import { fail } from '../../lib/errors/svc-error.ts';
import { writeJson } from '../../lib/json/spelled-numbers.ts';
import { errorBodies } from '../../wire/error.ts';
import { type Route, routes } from '../../wire/routes.ts';
import { checkCompiler } from '../route-checks.ts';
import type { Handler } from './handler.ts';
import { isLarge, writeJsonInTurns } from './write-json-in-turns.ts';

export function registerRoutes(app: FastifyInstance, handlers: Record<keyof typeof routes, Handler>): void {
  const table: Readonly<Record<string, Route>> = routes;
  for (const [name, handler] of Object.entries(handlers)) {
    const route = table[name];
    if (route !== undefined) registerRoute(app, route, handler);
  }
  const all = Object.values(table);
  for (const path of new Set(all.map((route) => route.path))) {
    const sharing = all.filter((route) => route.path === path);
    refuseOtherMethods(app, sharing);
  }
}

export function registerRoute(app: FastifyInstance, route: Route, handler: Handler): void {
  const failure = errorBodies[route.dialect ?? 'native'];
  const answer = route.response ? { 200: route.response, '4xx': failure, '5xx': failure } : null;
  app.route({
    method: route.method,
    url: route.path,
    config: { access: route },
    schema: {
      operationId: route.name,
      summary: route.summary,
      ...(route.hidden === true ? { hide: true } : {}),
      ...(route.body ? { body: route.body } : {}),
      ...(route.query ? { querystring: route.query } : {}),
      ...(answer ? { response: answer } : {}),
    },
    validatorCompiler: checkCompiler(route.name),
    // Handlers answer with what the schema says and no more; the tests hold every answer to it.
    serializerCompiler: () => (answer) => writeJson(answer),
    handler: writesInTurns(handler),
  });
}

/** Large answers are written here, because fastify would write them at once. */
function writesInTurns(handler: Handler): Handler {
  return async (request, reply) => {
    const answer = await handler(request, reply);
    if (!isLarge(answer)) return answer;
    reply.type('application/json; charset=utf-8');
    return writeJsonInTurns(answer);
  };
}

const METHODS: readonly HTTPMethods[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'];

/** A known path with another method is a 405 that names the right ones; HEAD is answered wherever GET is. */
function refuseOtherMethods(app: FastifyInstance, sharing: readonly Route[]): void {
  const [route] = sharing;
  if (route === undefined) return;
  const answered: readonly string[] = sharing.map(({ method }) => method);
  const withPreflight = app.hasRoute({ method: 'OPTIONS', url: '*' });
  app.route({
    method: METHODS.filter(
      (each) => !answered.includes(String(each)) && !(each === 'OPTIONS' && withPreflight),
    ),
    url: route.path,
    config: { access: route },
    schema: { hide: true },
    // Nothing that a wrong method carries is read; it is refused before its body.
    onRequest: async (request) => {
      const { method } = request;
      throw fail('method_not_allowed', {
        method,
        path: route.path.replace('/*', ''),
        allow: answered.join(', '),
      });
    },
    handler: async () => undefined,
  });
}
