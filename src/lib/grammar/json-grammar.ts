/** GBNF for JSON without a schema: any value of bounded depth, any object, any array. */
import type { GbnfWriter } from './gbnf/gbnf-writer.ts';
import { numberRule } from './number/number-grammar.ts';
import { stringOf } from './string-grammar.ts';

/** How deep free-form JSON may nest. Bounded, because a confused model may open brackets forever. */
const FREE_DEPTH = 6;

export function anyValue(writer: GbnfWriter, depth = FREE_DEPTH): string {
  return writer.shared(`value ${depth}`, () => {
    const scalars = [
      stringOf(writer, 0, null),
      numberRule(writer, {}, ''),
      booleans(writer),
      nullRule(writer),
    ];
    const nested = depth > 0 ? [anyObject(writer, depth - 1), anyArray(writer, depth - 1)] : [];
    return writer.rule([...scalars, ...nested].join(' | '));
  });
}

export function anyObject(writer: GbnfWriter, depth = FREE_DEPTH): string {
  const pair = writer.rule(`${stringOf(writer, 0, null)} ${writer.colon()} ${anyValue(writer, depth)}`);
  return writer.rule(`${writer.literal('{')} (${pair} (${writer.comma()} ${pair})*)? ${writer.literal('}')}`);
}

export function anyArray(writer: GbnfWriter, depth = FREE_DEPTH): string {
  const item = anyValue(writer, depth);
  return writer.rule(`${writer.literal('[')} (${item} (${writer.comma()} ${item})*)? ${writer.literal(']')}`);
}

export function booleans(writer: GbnfWriter): string {
  return writer.rule(`${writer.literal('true')} | ${writer.literal('false')}`);
}

export function nullRule(writer: GbnfWriter): string {
  return writer.rule(writer.literal('null'));
}
