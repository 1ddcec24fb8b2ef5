import { type GbnfWriter, MAX_COUNTED, repeat } from './gbnf/gbnf-writer.ts';
import { anyArray } from './json-grammar.ts';
import {
  at,
  readCount,
  impossible,
  malformed,
  possible,
  type Schema,
  type SchemaPath,
  type Compile,
} from './schema/schema-walk.ts';

export function arrayRule(writer: GbnfWriter, schema: Schema, path: SchemaPath, compile: Compile): string {
  const min = readCount(schema, 'minItems', path) ?? 0;
  const asked = readCount(schema, 'maxItems', path);
  const max = asked !== null && asked > MAX_COUNTED ? null : asked;
  if (max !== asked) writer.later(path, 'maxItems');
  if (max !== null && max < min) throw impossible(path, 'maxItems is less than minItems');
  if (min > MAX_COUNTED) {
    writer.cannot(path, 'minItems', `at most ${MAX_COUNTED} items are counted`);
    return arrayRule(writer, { ...schema, minItems: MAX_COUNTED }, path, compile);
  }
  if (schema['uniqueItems'] === true && (max === null || max > 1)) writer.later(path, 'uniqueItems');
  const { prefix, rest } = itemSchemas(schema, path);
  if (prefix.length === 0 && rest === undefined && min === 0 && max === null) return anyArray(writer);
  const rules: string[] = [];
  for (const [index, item] of prefix.entries()) {
    const rule = possible(() => compile(item, at(at(path, 'prefixItems'), index)));
    if (rule === null) break;
    rules.push(rule);
  }
  const isCut = rules.length < prefix.length;
  if (isCut && min > rules.length) throw impossible(path, `no value is possible for item ${rules.length}`);
  const prefixRules = rules;
  if (
    !isCut &&
    prefix.length > 0 &&
    rest === undefined &&
    min <= prefix.length &&
    (max ?? Infinity) > prefix.length
  )
    writer.narrowed(path, 'items');
  const restRule = isCut ? null : restItem(rest, prefix.length, min, path, compile);
  return writer.rule(
    `${writer.literal('[')} ${itemList(writer, prefixRules, restRule, min, max)} ${writer.literal(']')}`,
  );
}

function itemSchemas(schema: Schema, path: SchemaPath): { prefix: readonly unknown[]; rest: unknown } {
  const { items, unevaluatedItems, prefixItems } = schema;
  const rest = items ?? unevaluatedItems;
  if (prefixItems === undefined) return { prefix: [], rest };
  if (!Array.isArray(prefixItems)) throw malformed(at(path, 'prefixItems'), 'it must be a list');
  return { prefix: prefixItems, rest };
}

function restItem(
  rest: unknown,
  prefix: number,
  min: number,
  path: SchemaPath,
  compile: Compile,
): string | null {
  if (rest === undefined && prefix > 0 && min <= prefix) return null;
  const rule = possible(() => compile(rest ?? true, at(path, 'items')));
  if (rule === null && min > prefix)
    throw impossible(path, 'minItems is greater than the number of items allowed');
  return rule;
}

function itemList(
  writer: GbnfWriter,
  prefix: readonly string[],
  rest: string | null,
  min: number,
  max: number | null,
): string {
  const fixed = max === null ? prefix : prefix.slice(0, max);
  const more = Math.max(0, min - prefix.length);
  const room = max === null ? null : max - fixed.length;
  const noRest = rest === null || room === 0;
  const tail = noRest ? '""' : repeated(writer, commaItem(writer, rest), more, room);
  let after = tail;
  let before = noRest ? '""' : firstItems(writer, rest, more, room);
  for (const [index, item] of [...fixed.entries()].toReversed()) {
    const optional = index >= min;
    const start = `${item} ${after}`;
    const next = `${writer.comma()} ${item} ${after}`;
    before = writer.rule(optional ? `${start} | ""` : start);
    after = writer.rule(optional ? `${next} | ""` : next);
  }
  return before;
}

function firstItems(writer: GbnfWriter, item: string, min: number, room: number | null): string {
  const more = repeated(
    writer,
    commaItem(writer, item),
    Math.max(0, min - 1),
    room === null ? null : room - 1,
  );
  return writer.rule(min > 0 ? `${item} ${more}` : `(${item} ${more})?`);
}

function repeated(writer: GbnfWriter, rule: string, min: number, max: number | null): string {
  return repeat(writer, rule, min, max) || '""';
}

/** A separate rule: llama.cpp counts the symbols inside a repeated group and refuses large products. */
function commaItem(writer: GbnfWriter, item: string): string {
  return writer.rule(`${writer.comma()} ${item}`);
}
