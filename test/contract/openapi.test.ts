/** GET /openapi.json: the document that describes the service is itself valid and complete. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { scriptedService } from '../support/http/scripted-service.ts';
import { type Route, routes } from '../../src/wire/routes.ts';
import { openApiDocument } from '../../src/server/http/openapi.ts';
import { verifies } from './requirements.ts';

const service = scriptedService();

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly requestBody?: { readonly content: Record<string, { readonly schema: object }> };
  readonly responses: Record<string, { readonly description: string; readonly content?: Contents }>;
}
type Contents = Record<string, { readonly schema: object }>;
type Paths = Record<string, Record<string, Operation>>;

const document = async () => (await service.client.get('/openapi.json')).body;
const operationsOf = (paths: Paths) => Object.values(paths).flatMap((methods) => Object.values(methods));

describe('the OpenAPI document', () => {
  it('lists the routes of the interface with their methods', async () => {
    const { openapi, info, paths } = await document();
    expect(openapi).toMatch(/^3\.1\./);
    expect(info).toMatchObject({ title: 'Hearth', version: '9.8.7' });
    const listed = Object.entries(paths as Paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    // What other dialects ask for, for their own clients.
    const additions = Object.values<Route>(routes).flatMap(({ method, path, dialect }) =>
      dialect === undefined ? [] : [`${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`],
    );
    const further = ['POST /v1/tokenize', 'POST /v1/detokenize', 'POST /v1/rerank', 'POST /v1/decisions'];
    expect(listed).toEqual(expect.arrayContaining(further));
    const own = listed.filter((route) => ![...additions, ...further].includes(route));
    const [described, extra] = [
      own.filter((route) => / (\/health|\/v1\/.+)$/.test(route)),
      own.filter((route) => !/ (\/health|\/v1\/.+)$/.test(route)),
    ];
    expect(listed).toEqual(expect.arrayContaining(additions));
    verifies('service.five-routes', () =>
      expect(described.toSorted()).toEqual([
        'GET /health',
        'GET /v1/identity',
        'GET /v1/models',
        // One of those models, as OpenAI's clients ask for it.
        'GET /v1/models/{*}',
        'POST /v1/chat/completions',
        // Listed in the identity, and not described.
        'POST /v1/completions',
        'POST /v1/embeddings',
      ]),
    );
    // Everything that is not of the interface stays out of its way.
    verifies('versioning.prefix', () =>
      expect(extra.filter((route) => !/ \/(svc\/|api\/|metrics$|readyz$|ui\/)/.test(route))).toEqual([]),
    );
  });

  it('is the same without a service behind it, as docs/openapi.json is written', async () => {
    expect(JSON.parse(JSON.stringify(await openApiDocument('9.8.7')))).toEqual(await document());
  });

  it('gives every operation its own name, a summary, and the shape of its errors', async () => {
    const operations = operationsOf((await document()).paths);
    const ids = operations.map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { operationId, summary, responses } of operations) {
      expect(summary, operationId).toMatch(/\S/);
      expect(Object.keys(responses), operationId).toEqual(expect.arrayContaining(['200', '4XX', '5XX']));
    }
  });

  it('writes a shape once, under its name, wherever it is used', async () => {
    const { paths, components } = await document();
    for (const { operationId, responses } of operationsOf(paths)) {
      const { schema } = responses['4XX']?.content?.['application/json'] ?? {};
      expect(schema, operationId).toEqual({
        $ref: expect.stringMatching(/^#\/components\/schemas\/\w*ErrorBody$/),
      });
    }
    const timings = { $ref: '#/components/schemas/Timings' };
    for (const name of ['ChatResponse', 'CompletionResponse', 'NativeAnswer'])
      expect(components.schemas[name].properties.timings, name).toEqual(timings);
    expect(JSON.stringify(components)).not.toContain('x-named');
  });

  it('says of a request what the service refuses in words of its own', async () => {
    const { paths, components } = await document();
    const ajv = new Ajv2020({ strict: false });
    const accepts = (path: string) => {
      const { schema } = (paths as Paths)[path]?.['post']?.requestBody?.content['application/json'] ?? {};
      return ajv.compile({ ...schema, components });
    };
    const embeddings = accepts('/v1/embeddings');
    for (const input of ['', [], [''], Array(2049).fill('x')])
      expect(embeddings({ model: 'm', input }), JSON.stringify(input).slice(0, 20)).toBe(false);
    expect(embeddings({ model: 'm', input: ['x'] })).toBe(true);
    expect(embeddings(JSON.parse('{"model":"m","input":"x","__proto__":1}'))).toBe(false);
    expect(accepts('/v1/completions')({ model: 'm', prompt: '' })).toBe(false);
    const chat = accepts('/v1/chat/completions');
    const messages = [{ role: 'user', content: 'x' }];
    expect(chat({ model: 'm', messages })).toBe(true);
    expect(chat(JSON.parse('{"model":"m","messages":[{"role":"user","content":"x","__proto__":1}]}'))).toBe(
      false,
    );
    expect(JSON.stringify(paths)).not.toContain('"documented"');
  });

  it('holds schemas that are JSON Schema, without references into nothing', async () => {
    const whole = await document();
    const ajv = new Ajv2020({ strict: false });
    for (const { requestBody, responses } of operationsOf(whole.paths)) {
      const contents = [requestBody?.content, ...Object.values(responses).map(({ content }) => content)];
      for (const content of contents) {
        for (const { schema } of Object.values(content ?? {}))
          expect(() => ajv.compile({ ...schema, components: whole.components })).not.toThrow();
      }
    }
    expect(JSON.stringify(whole)).toContain('"$ref":"#/');
    for (const [, reference = ''] of JSON.stringify(whole).matchAll(/"\$ref":"([^"]+)"/g)) {
      const target = reference
        .replace('#/', '')
        .split('/')
        .reduce((node: Record<string, never> | undefined, part) => node?.[part], whole);
      expect(target, reference).toBeDefined();
    }
  });
});
