import { isDeepStrictEqual } from 'node:util';
import swagger from '@fastify/swagger';
import { fastify, type FastifyInstance } from 'fastify';
import { routes } from '../../wire/routes.ts';
import type { Handler } from './handlers/handler.ts';
import { registerRoutes } from './handlers/register.ts';

async function describe(app: FastifyInstance, version: string, shared: SharedSchemas): Promise<void> {
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
    transform: ({ schema, url }) => {
      const { body, response, ...rest } = schema ?? {};
      return {
        schema: {
          ...rest,
          ...(body === undefined ? {} : { body: shared.named(documented(body)) }),
          ...(response === undefined ? {} : { response: shared.named(response) }),
        },
        url,
      };
    },
  });
}

/** Fastify's plugin follows only its own references, so ours get their names afterwards. */
const NAMED = 'x-named';

class SharedSchemas {
  readonly #all = new Map<string, unknown>();

  named(schema: unknown): unknown {
    if (Array.isArray(schema)) return schema.map((each) => this.named(each));
    if (typeof schema !== 'object' || schema === null) return schema;
    const { $id, ...rest } = schema as Record<string, unknown>;
    const own = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, this.named(value)]));
    if (typeof $id !== 'string') return own;
    const known = this.#all.get($id);
    if (known !== undefined && !isDeepStrictEqual(known, own))
      throw new Error(`two schemas have the name ${$id}`);
    this.#all.set($id, own);
    return { [NAMED]: $id };
  }

  into(document: object): object {
    const schemas = Object.fromEntries([...this.#all].toSorted(([one], [other]) => (one < other ? -1 : 1)));
    return referring({ ...document, components: { schemas } }) as object;
  }
}

function referring(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(referring);
  if (typeof value !== 'object' || value === null) return value;
  const { [NAMED]: name, ...rest } = value as Record<string, unknown>;
  const entries = Object.entries(rest).map(([key, each]) => [key, referring(each)] as const);
  return Object.fromEntries(
    typeof name === 'string' ? [...entries, ['$ref', `#/components/schemas/${name}`]] : entries,
  );
}

/**
 * The request schema plus the constraints that only a use case checks (`documented`, for better error texts), and
 * without the key `__proto__`, which the JSON reader refuses.
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

export async function openApiDocument(version: string): Promise<object> {
  const app = fastify();
  const shared = new SharedSchemas();
  await describe(app, version, shared);
  const nothing = Object.keys(routes).map((name) => [name, async () => undefined]);
  registerRoutes(app, Object.fromEntries(nothing) as Record<keyof typeof routes, Handler>);
  await app.ready();
  const document = app.swagger();
  await app.close();
  return shared.into(document);
}
