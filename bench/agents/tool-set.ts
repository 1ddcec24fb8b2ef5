/** Tools as agents send them: so many, each of twelve properties of the usual kinds, with descriptions. */
import { text } from '../words.ts';

type Property = (seed: number) => object;

const KINDS: readonly Property[] = [
  (seed) => ({ type: 'string', description: text(12, seed) }),
  (seed) => ({ type: 'integer', minimum: 0, maximum: 1000, description: text(10, seed) }),
  (seed) => ({ type: 'boolean', description: text(9, seed) }),
  (seed) => ({ type: 'array', items: { type: 'string' }, description: text(11, seed) }),
  (seed) => ({ type: 'string', enum: ['one', 'two', 'three', 'four'], description: text(8, seed) }),
  (seed) => ({
    type: 'object',
    properties: { a: { type: 'string' }, b: { type: 'number' } },
    required: ['a'],
    additionalProperties: false,
    description: text(8, seed),
  }),
];
const PROPERTIES = 12;

/** In the words of chat completions; sets of different seeds share no tool. */
export function toolSet(count: number, seed: number): object[] {
  return Array.from({ length: count }, (_, tool) => {
    const first = (seed * count + tool) * PROPERTIES;
    const properties = Object.fromEntries(
      Array.from({ length: PROPERTIES }, (_unused, at) => [
        `property_${at}`,
        KINDS[(tool + at) % KINDS.length]?.(first + at),
      ]),
    );
    return {
      type: 'function',
      function: {
        name: `tool_${tool}`,
        description: text(40, first),
        parameters: {
          type: 'object',
          properties,
          required: ['property_0', 'property_1', 'property_2'],
          additionalProperties: false,
        },
      },
    };
  });
}
