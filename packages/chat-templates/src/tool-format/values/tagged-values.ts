/** Text between two tags as a value: its schema says whether it is a string. */
import { isJson } from '../../../../exact-json/src/is-json.ts';
import { parseSpelled } from '../../../../exact-json/src/parse-spelled.ts';
import { spelled, spelledMember, writeJson } from '../../../../exact-json/src/spelled-numbers.ts';
import { parseLoose } from './loose-values.ts';
import { admittedTypes, valueType } from './schema-types.ts';

export function taggedValue(text: string, schema: unknown, root: unknown): unknown {
  const types = admittedTypes(schema, root);
  if (types !== null && types.size === 1 && types.has('string')) return text;
  const value = parsed(text.trim());
  if (value === undefined || typeof value === 'string')
    return types?.has('string') === false ? (value ?? text) : text;
  return types === null || types.has(valueType(value)) ? value : text;
}

/** JSON, else what Python prints; undefined: neither. */
function parsed(text: string): unknown {
  try {
    const value = parseSpelled(text);
    // A spelling is noted next to a container, and a number alone is in none.
    return typeof value === 'number'
      ? spelledMember(parseSpelled(`[${text}]`) as unknown[], 0)
      : spelled(value);
  } catch {
    return parseLoose(text);
  }
}

/** The same as JSON text; text that is JSON already stays as it is, so that no digit of a number is lost. */
export function taggedJson(text: string, schema: unknown, root: unknown): string {
  const value = taggedValue(text, schema, root);
  if (typeof value === 'string') return JSON.stringify(value);
  return isJson(text) ? text.trim() : writeJson(value);
}
