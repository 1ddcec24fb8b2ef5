/** Values outside JSON: Python literals, and objects with bare keys and strings in quotes of their own. */
import { gbnfLiteral, type GbnfWriter } from '../../../../packages/schema-grammar/src/gbnf/gbnf-writer.ts';
import type { JsonType, ValueForm } from '../../../../packages/chat-templates/src/tool-format/tool-format.ts';
import { numberRule } from '../../../../packages/schema-grammar/src/number/number-grammar.ts';
import { textThrough } from './free-text.ts';

/** Any value. */
export function looseValue(writer: GbnfWriter, strings: ValueForm): string {
  return writer.shared(`loose value ${JSON.stringify(strings)}`, () => {
    const value = writer.reserve();
    const scalar = looseScalar(writer, strings, ['string', 'number', 'boolean', 'null']);
    const isPython = strings.as === 'python';
    const key = isPython ? stringRule(writer, strings) : writer.rule('[A-Za-z_] [A-Za-z0-9_-]{0,63}');
    const pair = writer.rule(`${key} ":" " "? ${value}`);
    const list = `"[" (${value} ("," " "? ${value})*)? "]"`;
    const object = `"{" (${pair} ("," " "? ${pair})*)? "}"`;
    writer.define(value, `${scalar} | ${list} | ${object}`);
    return value;
  });
}

/** A value of one of these types. */
export function looseScalar(writer: GbnfWriter, strings: ValueForm, types: readonly JsonType[]): string {
  const isPython = strings.as === 'python';
  const options: Partial<Record<JsonType, string>> = {
    string: stringRule(writer, strings),
    number: numberRule(writer, {}, ''),
    boolean: isPython ? '"True" | "False"' : '"true" | "false"',
    null: isPython ? '"None"' : '"null"',
  };
  return writer.rule(types.flatMap((type) => options[type] ?? []).join(' | '));
}

function stringRule(writer: GbnfWriter, strings: ValueForm): string {
  if (strings.as === 'quoted')
    return writer.rule(`${gbnfLiteral(strings.quote)} ${textThrough(writer, strings.quote)}`);
  const escape = String.raw`"\\" [\\'"nrt]`;
  return writer.rule(
    [
      String.raw`"'" ([^'\\\x00-\x1F] | ${escape})* "'"`,
      String.raw`"\"" ([^"\\\x00-\x1F] | ${escape})* "\""`,
    ].join(' | '),
  );
}
