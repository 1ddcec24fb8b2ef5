import type { FastifyInstance, HTTPMethods } from 'fastify';
import { writeJson } from '../../../lib/json/spelled-numbers.ts';
import { errorBodies } from '../../../wire/error.ts';
import { type Route, routes } from '../../../wire/routes.ts';
import { checkCompiler } from '../route-checks.ts';
import { refuseDemands, unreadNamer } from '../unread-fields.ts';
import type { Handler } from './handler.ts';
import { isLarge, writeJsonInTurns } from './write-json-in-turns.ts';

export function registerRoutes(
  app: FastifyInstance,
  handlers: Record<keyof typeof routes, Handler>,
  strictParams = false,
): void {
  const table: Readonly<Record<string, Route>> = routes;
  for (const [name, handler] of Object.entries(handlers)) {
    const route = table[name];
    if (route !== undefined) registerRoute(app, route, handler, strictParams);
  }
  const all = Object.values(table);
  for (const path of new Set(all.map((route) => route.path))) {
    const sharing = all.filter((route) => route.path === path);
    refuseOtherMethods(app, sharing);
  }
}

export function registerRoute(
  app: FastifyInstance,
  route: Route,
  handler: Handler,
  strictParams = false,
): void {
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
    ...(route.body !== undefined && route.computes === true
      ? { preValidation: async ({ body }) => refuseDemands(route, body) }
      : {}),
    ...(route.body !== undefined && (route.computes !== true || route.admin !== undefined)
      ? { preHandler: unreadNamer(route, strictParams) }
      : {}),
    validatorCompiler: checkCompiler(route.name),
    // Skips fastify's serialiser: handlers return what the schema describes, which the tests verify for every route.
    serializerCompiler: () => (answer) => writeJson(answer),
    handler: writesInTurns(handler),
  });
}

/** Large answers are written here, because fastify would write them in one turn. */
function writesInTurns(handler: Handler): Handler {
  return async (request, reply) => {
    const answer = await handler(request, reply);
    if (!isLarge(answer)) return answer;
    reply.type('application/json; charset=utf-8');
    return writeJsonInTurns(answer);
  };
}

const METHODS: readonly HTTPMethods[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'];

/** A known path with another method is a 405 that names the allowed ones; HEAD works wherever GET does. */
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
    config: { access: route, allow: answered.join(', ') },
    schema: { hide: true },
    handler: async () => undefined,
  });
}
