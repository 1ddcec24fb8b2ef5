/** Values in nested tags: `<name>…</name>` for members, `<item>…</item>` for elements, each after a mark. */
import { admittedTypes, isSchema, resolvePointer } from './schema-types.ts';
import { taggedValue } from './tagged-values.ts';

const MAX_DEPTH = 64;
const ITEM = 'item';

export function nestedValue(text: string, mark: string, schema: unknown, root: unknown, depth = 0): unknown {
  const opening = `${mark}<`;
  const trimmed = text.trim();
  if (depth > MAX_DEPTH || !trimmed.startsWith(opening)) return taggedValue(text, schema, root);
  const elements: [string, string][] = [];
  let at = 0;
  while (trimmed.startsWith(opening, at)) {
    const nameEnd = trimmed.indexOf('>', at + opening.length);
    const name = trimmed.slice(at + opening.length, nameEnd);
    const end = nameEnd < 0 ? -1 : findClosingTag(trimmed, nameEnd + 1, mark, name);
    if (end < 0) return taggedValue(text, schema, root);
    elements.push([name, trimmed.slice(nameEnd + 1, end)]);
    at = end + mark.length + name.length + 3;
    while (/\s/.test(trimmed[at] ?? '')) at += 1;
  }
  const inner = resolved(schema, root);
  const types = admittedTypes(schema, root);
  const isList =
    types === null ? elements.every(([name]) => name === ITEM) : !types.has('object') && types.has('array');
  if (isList)
    return elements.map(([, body]) => nestedValue(body, mark, schemaMember(inner, 'items'), root, depth + 1));
  const properties = schemaMember(inner, 'properties');
  return Object.fromEntries(
    elements.map(([name, body]) => {
      const member = isSchema(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
      return [name, nestedValue(body, mark, member, root, depth + 1)];
    }),
  );
}

function findClosingTag(text: string, from: number, mark: string, name: string): number {
  const [open, close] = [`${mark}<${name}>`, `${mark}</${name}>`];
  let depth = 1;
  let at = from;
  while (depth > 0) {
    const nextClose = text.indexOf(close, at);
    if (nextClose < 0) return -1;
    const nextOpen = text.indexOf(open, at);
    const isOpen = nextOpen >= 0 && nextOpen < nextClose;
    depth += isOpen ? 1 : -1;
    at = isOpen ? nextOpen + open.length : nextClose + (depth === 0 ? 0 : close.length);
  }
  return at;
}

function resolved(schema: unknown, root: unknown): unknown {
  return isSchema(schema) && typeof schema['$ref'] === 'string'
    ? (resolvePointer(schema['$ref'], root) ?? resolvePointer(schema['$ref'], schema))
    : schema;
}

function schemaMember(schema: unknown, keyword: string): unknown {
  return isSchema(schema) ? schema[keyword] : undefined;
}
