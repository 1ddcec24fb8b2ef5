import { describe, expect, it } from 'vitest';
import { isSvcError } from '../errors/svc-error.ts';
import { compileSchema } from './schema-grammar.ts';

const object = (properties: Record<string, unknown>, rest: Record<string, unknown> = {}) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
  ...rest,
});

describe('compileSchema', () => {
  it('prints', () => {
    console.error(
      compileSchema(
        object({ a: { type: 'string', maxLength: 3 }, b: { type: 'integer', minimum: 0, maximum: 12 } }),
        's',
      ),
    );
  });
});
