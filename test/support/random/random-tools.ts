import type { ToolDefinition } from '../../../src/contract/job.ts';
import type { Random } from '../../../packages/schema-grammar/test/grammar-walk.ts';
import { randomRootSchema, type SchemaShape } from '../../../packages/schema-grammar/test/random-schema.ts';

const NAMES = ['get_weather', 'search', 'a', 'send-mail', 'db.query', 'get_weather_now', 'x1'];

/** One to three tools with random argument schemas. */
export function randomTools(random: Random, shape: SchemaShape): ToolDefinition[] {
  const names = NAMES.filter(() => random() < 0.4).slice(0, 3);
  return (names.length === 0 ? ['only'] : names).map((name) => ({
    name,
    description: random() < 0.5 ? `Does "${name}".` : '',
    parameters: objectRoot(randomRootSchema(random, shape, 2), random),
  }));
}

function objectRoot(schema: Record<string, unknown>, random: Random): Record<string, unknown> {
  const { $defs, ...rest } = schema;
  if (rest['type'] === 'object' && random() < 0.7) return schema;
  return {
    type: 'object',
    properties: { value: rest },
    required: ['value'],
    ...($defs === undefined ? {} : { $defs }),
  };
}
