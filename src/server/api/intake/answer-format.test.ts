import { describe, expect, it } from 'vitest';
import { type FormatFields, readAnswerFormat } from './answer-format.ts';

const SCHEMA = { const: '42' };

const refusal = (fields: FormatFields): string => {
  try {
    return JSON.stringify(readAnswerFormat(fields));
  } catch (error) {
    return (error as Error).message;
  }
};

describe('the format of an answer', () => {
  it('is the same by every name of a schema', () => {
    const formats: FormatFields[] = [
      { response_format: { type: 'json_schema', json_schema: { schema: SCHEMA } } },
      { response_format: { type: 'json_object', schema: SCHEMA } },
      { json_schema: SCHEMA },
      { json_schema: SCHEMA, response_format: { type: 'text' } },
    ];
    for (const fields of formats)
      expect(readAnswerFormat(fields)).toMatchObject({ kind: 'json_schema', schema: SCHEMA });
    expect(readAnswerFormat({ json_schema: null, response_format: null })).toEqual({ kind: 'text' });
  });

  it('is asked for once', () => {
    expect(refusal({ json_schema: SCHEMA, response_format: { type: 'json_object' } })).toBe(
      'json_schema cannot be combined with response_format; send one of them.',
    );
    expect(refusal({ json_schema: SCHEMA, grammar: 'root ::= "a"' })).toBe(
      'grammar cannot be combined with response_format or json_schema; send one of them.',
    );
    expect(refusal({ json_schema: [] as never })).toBe('json_schema must be a JSON Schema object.');
  });
});
