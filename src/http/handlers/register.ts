/** Registers every route of wire/routes.ts; each handler reads the request, calls one use case, sets headers. */
import type { FastifyInstance, HTTPMethods } from 'fastify';
import { fail } from '../../lib/errors/svc-error.ts';
import { ErrorBody } from '../../wire/error.ts';
import { type Route, routes } from '../../wire/routes.ts';
import type { Service } from '../../api/service.ts';
import { chatHandler } from './chat.ts';
import { completionsHandler } from './completions.ts';
import { embeddingsHandler } from './embeddings.ts';
import type { Handler } from './handler.ts';
import { healthHandler, identityHandler, modelHandler, modelsHandler } from './facts.ts';
import { residencyHandler, unloadHandler } from './residency.ts';

export function registerRoutes(app: FastifyInstance, service: Service): void {
  const handlers: Record<keyof typeof routes, Handler> = {
    health: healthHandler(service),
    identity: identityHandler(service),
    models: modelsHandler(service),
    model: modelHandler(service),
    chatCompletions: chatHandler(service),
    completions: completionsHandler(service),
    embeddings: embeddingsHandler(service),
    residency: residencyHandler(service),
    unload: unloadHandler(service),
  };
  for (const [name, handler] of Object.entries(handlers))
    register(app, routes[name as keyof typeof routes], handler);
  app.get('/openapi.json', { schema: { hide: true } }, async () => app.swagger());
  const { metrics } = service;
  if (metrics) {
    app.get('/metrics', { schema: { hide: true } }, async (_request, reply) =>
      reply.type(metrics.contentType).send(await metrics.render()),
    );
  }
  app.get('/', { schema: { hide: true } }, async () => ({
    product: 'hearth',
    identity: routes.identity.path,
    documentation: '/openapi.json',
  }));
  refuseOtherMethods(app, [
    ...Object.values(routes),
    { path: '/openapi.json', method: 'GET' },
    { path: '/', method: 'GET' },
  ]);
}

function register(app: FastifyInstance, route: Route, handler: Handler): void {
  app.route({
    method: route.method,
    url: route.path,
    schema: {
      operationId: route.name,
      summary: route.summary,
      ...(route.body ? { body: route.body } : {}),
      ...(route.query ? { querystring: route.query } : {}),
      response: { 200: route.response, '4xx': ErrorBody, '5xx': ErrorBody },
    },
    handler,
  });
}

/** A known path with another method is a 405 that names the right one; HEAD is answered wherever GET is. */
function refuseOtherMethods(app: FastifyInstance, known: readonly Pick<Route, 'path' | 'method'>[]): void {
  const methods: HTTPMethods[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
  const withPreflight = app.hasRoute({ method: 'OPTIONS', url: '*' });
  for (const { path, method } of known) {
    const others = methods.filter((each) => each !== method && !(each === 'OPTIONS' && withPreflight));
    app.route({
      method: others,
      url: path,
      schema: { hide: true },
      // The body of a wrong method is nobody's business; refuse before it is read.
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
}
