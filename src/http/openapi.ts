/** The OpenAPI document, derived from the route table. */
import swagger from '#fastify/swagger';
import { fastify, type FastifyInstance } from '#fastify';
import { routes } from '../wire/routes.ts';
import type { Handler } from './handlers/handler.ts';
import { registerRoutes } from './handlers/register.ts';

/** Collects the routes that are registered from now on. */
async function describe(app: FastifyInstance, version: string): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Hearth',
        version,
        description:
          'The local LLM service: chat completions and embeddings from GGUF models on this machine.',
      },
    },
    transform: ({ schema, url }) => ({
      schema: schema?.body === undefined ? schema : { ...schema, body: documented(schema.body) },
      url,
    }),
  });
}

/**
 * A schema of a request with what is refused besides it: `documented` holds constraints that a use case checks, because
 * it has better sentences for them, and the JSON reader takes no key `__proto__`.
 */
export function documented(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(documented);
  if (typeof schema !== 'object' || schema === null) return schema;
  const { documented: further = {}, ...rest } = schema as Record<string, unknown>;
  const types = [(rest as { type?: unknown }).type].flat();
  return {
    ...Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, documented(value)])),
    ...(types.includes('object') ? { propertyNames: { not: { const: '__proto__' } } } : {}),
    ...(further as object),
  };
}

/** The document, by an app that collects the routes and serves nobody. */
export async function openApiDocument(version: string): Promise<object> {
  const app = fastify();
  await describe(app, version);
  const nothing = Object.keys(routes).map((name) => [name, async () => undefined]);
  registerRoutes(app, Object.fromEntries(nothing) as Record<keyof typeof routes, Handler>);
  await app.ready();
  const document = app.swagger();
  await app.close();
  return document;
}
