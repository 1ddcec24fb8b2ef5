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

function parsed(text: string): unknown {
  try {
    const value = parseSpelled(text);
    // Spellings are recorded per container, and a lone number has none.
    return typeof value === 'number'
      ? spelledMember(parseSpelled(`[${text}]`) as unknown[], 0)
      : spelled(value);
  } catch {
    return parseLoose(text);
  }
}

/** As JSON text; JSON stays unchanged, so that no digit of a number is lost. */
export function taggedJson(text: string, schema: unknown, root: unknown): string {
  const value = taggedValue(text, schema, root);
  if (typeof value === 'string') return JSON.stringify(value);
  return isJson(text) ? text.trim() : writeJson(value);
}
