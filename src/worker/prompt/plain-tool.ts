/**
 * Simplifies tools for templates that write types as those of a programming language, and fail on anything
 * unexpected.
 */
import { isFields } from '../../lib/base/json.ts';
import type { ToolDefinition } from '../../contract/job.ts';
import { SpelledNumber } from '../../lib/json/spelled-numbers.ts';

type Schema = Readonly<Record<string, unknown>>;

/** Keywords whose members are schemas; those of the second list hold one schema or several. */
const BY_NAME = ['properties', '$defs', 'definitions'];
const NESTED = ['items', 'prefixItems', 'additionalProperties', 'anyOf', 'oneOf', 'allOf'];

/**
 * Adds neutral values for optional members, and removes null, which such templates do not know, from lists of types.
 * The answer is constrained by the original tool.
 */
export function plainTool(tool: ToolDefinition): ToolDefinition {
  return { ...tool, parameters: { type: 'object', properties: {}, ...plainMembers(tool.parameters) } };
}

function plainSchema(schema: Schema): Schema {
  const { type: given, ...rest } = plainMembers(schema);
  const type = plainType(given);
  return {
    ...(type === undefined ? {} : { type }),
    ...(type === 'object' ? { additionalProperties: {} } : {}),
    description: '',
    ...rest,
  };
}

function plainMembers(schema: Schema): Schema {
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, plainMember(key, value)]));
}

function plainMember(key: string, value: unknown): unknown {
  if (BY_NAME.includes(key) && isSchema(value))
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, plainValue(each)]));
  return NESTED.includes(key) ? plainValue(value) : value;
}

function plainValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plainValue);
  return isSchema(value) ? plainSchema(value) : value;
}

function plainType(type: unknown): unknown {
  const types = [type].flat().filter((each) => each !== 'null');
  return types.length > 1 ? types : types[0];
}

function isSchema(value: unknown): value is Schema {
  return isFields(value) && !(value instanceof SpelledNumber);
}
