import { describe, expect, it } from 'vitest';
import { plainTool } from './plain-tool.ts';

const plain = (parameters: Record<string, unknown>): object =>
  plainTool({ name: 'f', description: 'd', parameters }).parameters;
const property = (schema: object): unknown => Reflect.get(plain({ properties: { p: schema } }), 'properties');

describe('a plain tool', () => {
  it('has parameters, even where it takes none', () => {
    expect(plain({})).toEqual({ type: 'object', properties: {} });
  });

  it.each<[object, object]>([
    [
      { type: 'string', description: 'said' },
      { type: 'string', description: 'said' },
    ],
    [{ type: ['integer', 'null'] }, { type: 'integer', description: '' }],
    [{ type: ['integer', 'string', 'null'] }, { type: ['integer', 'string'], description: '' }],
    [{ type: 'null' }, { description: '' }],
    [{ type: 'object' }, { type: 'object', additionalProperties: {}, description: '' }],
    [
      { type: 'object', additionalProperties: false },
      { type: 'object', additionalProperties: false, description: '' },
    ],
    [{ items: { type: 'null' } }, { items: { description: '' }, description: '' }],
    [
      { enum: [null], default: { type: 'null' } },
      { enum: [null], default: { type: 'null' }, description: '' },
    ],
  ])('has %j as %j', (given, made) => {
    expect(property(given)).toEqual({ p: made });
  });

  it('takes the names of properties for no keywords', () => {
    expect(plain({ properties: { type: { type: 'null' }, properties: { type: 'string' } } })).toEqual({
      type: 'object',
      properties: { type: { description: '' }, properties: { type: 'string', description: '' } },
    });
  });
});
