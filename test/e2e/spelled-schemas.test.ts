/** Numbers that a schema lists reach the client in the client's own spelling: over HTTP, from a real model. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EvidenceService } from '../support/records/evidence-service.ts';
import { template } from '../support/templates.ts';

const FORMATS = ['hermes', 'tagged', 'arg-keys', 'typed', 'nested', 'pythonic', 'quoted'] as const;
const SPELLINGS = ['1234567890123456789', '1.0', '1e22', '-0', '[1.0,{"a":12345678901234567890}]'];
const KEYWORDS: Readonly<Record<string, (spelling: string) => string>> = {
  const: (spelling) => `{"const":${spelling}}`,
  enum: (spelling) => `{"enum":[${spelling}]}`,
  'const in a part': (spelling) => `{"allOf":[{"const":${spelling}},{"description":"x"}]}`,
  'const in a branch': (spelling) => `{"anyOf":[{"const":${spelling}}]}`,
};
const ROWS = Object.entries(KEYWORDS).flatMap(([keyword, schemaOf]) =>
  SPELLINGS.map((spelling) => [keyword, spelling, schemaOf(spelling)] as const),
);

let service: EvidenceService;
beforeAll(async () => {
  const models = FORMATS.map(
    (name) => [name, { contextLength: 2048, chatTemplate: template(name) }] as const,
  );
  service = await EvidenceService.create(Object.fromEntries(models), {
    env: { SVC_MAX_LOADED_MODELS: String(FORMATS.length) },
  });
  await service.start();
});
afterAll(() => service.remove());

const objectOf = (id: string): string =>
  `{"type":"object","properties":{"id":${id}},"required":["id"],"additionalProperties":false}`;
const ask = (model: string, schema: string): string =>
  `{"model":"${model}","max_tokens":400,"messages":[{"role":"user","content":"Go on."}],"response_format":{"type":"json_schema","json_schema":{"name":"a","schema":${objectOf(schema)}}}}`;

/** The text between the key and the end of the object, without the spaces of the format. */
function valueIn(json: string): string {
  return json
    .trim()
    .slice(1, -1)
    .replace(/^\s*"id"\s*:/, '')
    .replaceAll(/\s/g, '');
}

async function messages(model: string, schema: string): Promise<string> {
  const reply = await fetch(`${service.url}/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: `{"model":"${model}","max_tokens":400,"temperature":0,"thinking":{"type":"disabled"},"messages":[{"role":"user","content":"Go on."}],"tools":[{"name":"f","input_schema":${objectOf(schema)}}],"tool_choice":{"type":"tool","name":"f"}}`,
  });
  return reply.text();
}

describe('a number that a schema lists', () => {
  it.each(ROWS)('is written as it was spelled in response_format: %s %s', async (_, spelling, schema) => {
    const { body } = await service.post(ask('hermes', schema));
    expect(valueIn(body.choices[0].message.content)).toBe(spelling);
  });

  it.each(FORMATS)('is written as it was spelled in a call: %s', async (model) => {
    for (const [keyword, spelling, schema] of ROWS) {
      // Lists between tags are free text.
      if (spelling.startsWith('[') && model !== 'hermes') continue;
      const { body } = await service.post(
        `{"model":"${model}","temperature":0,"reasoning_effort":"none","max_tokens":400,"messages":[{"role":"user","content":"Go on."}],"tools":[{"type":"function","function":{"name":"f","parameters":${objectOf(schema)}}}],"tool_choice":"required"}`,
      );
      const written: string =
        body.choices?.[0].message.tool_calls?.[0].function.arguments ?? JSON.stringify(body);
      expect([keyword, valueIn(written)]).toEqual([keyword, spelling]);
      if (keyword === 'const') expect(await messages(model, schema)).toContain(`"input":{"id":${spelling}}`);
    }
  });
});

describe('a bound whose digits a JavaScript number loses', () => {
  it.each(['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'])(
    'is named as left to the check: %s',
    async (keyword) => {
      const relaxed = async (limit: string): Promise<string> => {
        const reply = await service.post(ask('hermes', `{"type":"integer","${keyword}":${limit}}`));
        return reply.headers.get('x-svc-relaxed') ?? '';
      };
      expect(await relaxed('1234567890123456789')).toContain(keyword);
      expect(await relaxed('9007199254740992.0')).toBe('');
    },
  );
});
