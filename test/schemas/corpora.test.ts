/**
 * Schemas as they are written elsewhere: the official suite of draft 2020-12, what zod and pydantic write, the formats of
 * OpenAPI, and the tools of real servers. Each is accepted or refused by name, and what an accepted one's grammar writes
 * is valid for the schema, unless a keyword was left out and named.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { examine, KnownSchemas } from '../../src/server/api/intake/schema-work.ts';
import { compileSchema } from '../../packages/schema-grammar/src/schema-grammar.ts';
import { SchemaBudget } from '../../packages/schema-grammar/src/schema/schema-budget.ts';
import { isObject } from '../../packages/schema-grammar/src/schema/schema-walk.ts';
import { seeded, textWriter } from '../../packages/schema-grammar/test/grammar-walk.ts';
import { zodSchemas } from './zod-schemas.ts';
import { writtenTools } from './written-tools.ts';

const TEXTS = 6;

interface Outcome {
  readonly refusal: string | null;
  readonly leftOut: readonly string[];
  /** A text of the grammar that is not valid. */
  readonly invalid: string | null;
}

function outcomeOf(schema: unknown, relax: boolean): Outcome {
  const leftOut: string[] = [];
  const note = (path: string, keyword: string): void => void leftOut.push(`${path} ${keyword}`);
  try {
    const gbnf = compileSchema(schema, 'schema', { relax, leftOut: note });
    const known = new KnownSchemas();
    const asked = { digest: 'd', text: JSON.stringify(schema), path: 'schema', relax };
    if (isObject(schema)) examine(asked, new SchemaBudget(), known);
    const isValid = (text: string): boolean => known.check('d', null, text)?.problem === null;
    const write = textWriter(gbnf, seeded(17));
    const texts = Array.from({ length: TEXTS }, write);
    const invalid = isObject(schema) ? (texts.find((text) => !isValid(text)) ?? null) : null;
    return { refusal: null, leftOut, invalid };
  } catch (error) {
    return { refusal: (error as Error).message, leftOut, invalid: null };
  }
}

function fixture(name: string): unknown[] {
  return JSON.parse(
    readFileSync(new URL(`../fixtures/schemas/${name}`, import.meta.url), 'utf8'),
  ) as unknown[];
}

const openApiFormats: readonly (readonly [type: string, format: string])[] = [
  ...['int8', 'int16', 'int32', 'int64', 'uint8', 'uint16', 'uint32', 'uint64'].map(
    (format) => ['integer', format] as const,
  ),
  ...['float', 'double'].map((format) => ['number', format] as const),
  ...[
    'byte',
    'binary',
    'password',
    'date',
    'time',
    'date-time',
    'duration',
    'email',
    'hostname',
    'ipv4',
    'ipv6',
    'uri',
  ].map((format) => ['string', format] as const),
  ...['uri-reference', 'uuid', 'regex', 'json-pointer', 'base64url', 'html'].map(
    (format) => ['string', format] as const,
  ),
];

/** Accepted, and every text valid where nothing was left to the check. */
function expectAccepted(schemas: readonly unknown[]): void {
  for (const schema of schemas) {
    const { refusal, leftOut, invalid } = outcomeOf(schema, false);
    expect(refusal, JSON.stringify(schema)).toBeNull();
    if (leftOut.length === 0) expect(invalid, JSON.stringify(schema)).toBeNull();
  }
}

describe('the schema of an answer', () => {
  it('of the official suite is accepted in most cases, and refused by name in the others', () => {
    const outcomes = fixture('draft2020-12.json').map((schema) => outcomeOf(schema, false));
    expect(outcomes.filter(({ refusal }) => refusal === null).length).toBeGreaterThanOrEqual(303);
    for (const { refusal } of outcomes) if (refusal !== null) expect(refusal).toMatch(/schema/);
    const wrong = outcomes.filter(({ leftOut, invalid }) => leftOut.length === 0 && invalid !== null);
    expect(wrong).toEqual([]);
  });

  it('that zod writes is accepted', () => {
    expect(zodSchemas.length).toBeGreaterThanOrEqual(48);
    expectAccepted(
      zodSchemas.map((schema) => JSON.parse(JSON.stringify(z.toJSONSchema(schema, { io: 'input' })))),
    );
  });

  it('that pydantic writes is accepted', () => {
    expectAccepted(fixture('pydantic.json'));
  });

  it('may have any format of OpenAPI', () => {
    expect(openApiFormats.length).toBe(28);
    expectAccepted(openApiFormats.map(([type, format]) => ({ type, format })));
  });
});

describe('the schema of a tool', () => {
  const real = fixture('mcp-tools.json');
  const all = [...real, ...writtenTools()];

  it(`is never refused, for ${all.length} tools, and what it leaves out is named`, () => {
    expect(all.length).toBeGreaterThanOrEqual(500);
    for (const schema of all) {
      const { refusal, leftOut, invalid } = outcomeOf(schema, true);
      expect(refusal, JSON.stringify(schema)).toBeNull();
      if (leftOut.length === 0) expect(invalid, JSON.stringify(schema)).toBeNull();
    }
  });
});
