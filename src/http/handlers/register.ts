/** Registers routes of the table on fastify, each with the refusal of all other methods on its path. */
import type { FastifyInstance, HTTPMethods } from 'fastify';
import { fail } from '../../lib/errors/svc-error.ts';
import { errorBodies } from '../../wire/error.ts';
import { type Route, routes } from '../../wire/routes.ts';
import type { Handler } from './handler.ts';

export function registerRoutes(app: FastifyInstance, handlers: Record<keyof typeof routes, Handler>): void {
  for (const [name, handler] of Object.entries(handlers))
    registerRoute(app, routes[name as keyof typeof routes], handler);
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
    handler,
  });
  refuseOtherMethods(app, route);
}

const METHODS: readonly HTTPMethods[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'];

/** A known path with another method is a 405 that names the right one; HEAD is answered wherever GET is. */
function refuseOtherMethods(app: FastifyInstance, route: Route): void {
  const { path, method } = route;
  const withPreflight = app.hasRoute({ method: 'OPTIONS', url: '*' });
  app.route({
    method: METHODS.filter((each) => each !== method && !(each === 'OPTIONS' && withPreflight)),
    url: path,
    config: { access: route },
    schema: { hide: true },
    // Nothing that a wrong method carries is read; it is refused before its body.
    onRequest: async (request) => {
      throw fail('method_not_allowed', {
        method: request.method,
        path: path.replace('/*', ''),
        allow: method,
      });
    },
    handler: async () => undefined,
  });
}
