/**
 * server/api/intake owns what dialects share of reading a conversation: tools, the shape of the answer, thinking. It turns
 * wire shapes into the engine's words, refuses what cannot be kept, and checks finished answers. It knows no engine
 * state and no HTTP; the dialects call it.
 */
import { type Fields, isFields } from '../../../lib/base/json.ts';
import type { ToolDefinition } from '../../../contract/job.ts';
import { memoizeByObject } from '../../../lib/base/memoize-by-object.ts';
import { refusal } from '../../../lib/errors/refusal.ts';
import { keepSpellings } from '../../../lib/json/spelled-numbers.ts';
import { placeSchema } from './schema-places.ts';

const MAX_DESCRIPTION_CHARS = 32_768;
const TOOL_NAME = /^[A-Za-z0-9_.-]{1,64}$/;
const COMBINED = ['$ref', 'anyOf', 'oneOf', 'allOf'];

/** Accepts either form of a tool; the same list is read once. Their schemas are examined later, off the event loop. */
export const readTools = memoizeByObject((tools: readonly unknown[]): ToolDefinition[] => {
  const read = tools.map((tool, index) => readTool(tool, `tools[${index}]`));
  for (const [index, { name }] of read.entries()) {
    if (read.findIndex((tool) => tool.name === name) < index)
      throw refusal(`tools[${index}]`, `repeats the name "${name}"; names must differ`);
  }
  return read;
});

function readTool(tool: unknown, path: string): ToolDefinition {
  if (!isFields(tool)) throw refusal(path, 'must be an object');
  if (tool['type'] !== undefined && tool['type'] !== 'function')
    throw refusal(`${path}.type`, 'must be "function"; other kinds of tools are not served');
  const nested = tool['function'] !== undefined || tool['type'] === 'function';
  const at = nested ? `${path}.function` : path;
  const definition = nested ? tool['function'] : tool;
  if (!isFields(definition)) throw refusal(at, 'must be an object with a name');
  return {
    name: readName(definition['name'], `${at}.name`),
    description: readDescription(definition['description'], `${at}.description`),
    parameters: readParameters(definition['parameters'], `${at}.parameters`),
  };
}

function readName(name: unknown, path: string): string {
  if (typeof name === 'string' && TOOL_NAME.test(name)) return name;
  throw refusal(path, 'must be 1 to 64 letters, digits, "_", "-" or "."');
}

function readDescription(description: unknown, path: string): string {
  if (description === undefined || description === null) return '';
  if (typeof description !== 'string') throw refusal(path, 'must be a string');
  if (description.length > MAX_DESCRIPTION_CHARS) {
    throw refusal(
      path,
      `has ${description.length} characters; at most ${MAX_DESCRIPTION_CHARS} are accepted`,
    );
  }
  return description.toWellFormed();
}

function readParameters(parameters: unknown, path: string): Record<string, unknown> {
  if (parameters === undefined || parameters === null) return { type: 'object', properties: {} };
  return placeSchema(isFields(parameters) ? asObjectSchema(parameters) : withOddPart(parameters, {}), path);
}

/** The examination refuses or relaxes schemas that contradict named arguments. */
function withOddPart(odd: unknown, schema: Fields): Record<string, unknown> {
  const { allOf } = schema;
  const parts: readonly unknown[] = Array.isArray(allOf) ? allOf : [];
  return keepSpellings({ ...schema, type: 'object', allOf: [odd, ...parts] }, schema);
}

function asObjectSchema(schema: Fields): Record<string, unknown> {
  const { type } = schema;
  if (type !== undefined && ![type].flat().includes('object')) return withOddPart({ type }, schema);
  if (!COMBINED.some((keyword) => schema[keyword] !== undefined) || schema['type'] === 'object')
    return keepSpellings({ ...schema, type: 'object' }, schema);
  const { $defs, definitions, ...rest } = schema;
  return {
    allOf: [keepSpellings(rest, schema), { type: 'object' }],
    ...($defs === undefined ? {} : { $defs }),
    ...(definitions === undefined ? {} : { definitions }),
  };
}
