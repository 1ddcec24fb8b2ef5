import type { GbnfWriter } from './gbnf/gbnf-writer.ts';
import { numberRule } from './number/number-grammar.ts';
import { stringRule } from './string-grammar.ts';

export function anyValue(writer: GbnfWriter): string {
  return writer.shared('value', () => {
    const value = writer.reserve();
    const scalars = [
      stringRule(writer, 0, null),
      numberRule(writer, {}, ''),
      booleans(writer),
      nullRule(writer),
    ];
    writer.define(value, [...scalars, objectRule(writer, value), arrayRule(writer, value)].join(' | '));
    return value;
  });
}

export function anyObject(writer: GbnfWriter): string {
  return objectRule(writer, anyValue(writer));
}

export function anyArray(writer: GbnfWriter): string {
  return arrayRule(writer, anyValue(writer));
}

function objectRule(writer: GbnfWriter, value: string): string {
  const pair = writer.rule(`${stringRule(writer, 0, null)} ${writer.colon()} ${value}`);
  return writer.rule(`${writer.literal('{')} (${pair} (${writer.comma()} ${pair})*)? ${writer.literal('}')}`);
}

function arrayRule(writer: GbnfWriter, value: string): string {
  return writer.rule(
    `${writer.literal('[')} (${value} (${writer.comma()} ${value})*)? ${writer.literal(']')}`,
  );
}

export function booleans(writer: GbnfWriter): string {
  return writer.rule(`${writer.literal('true')} | ${writer.literal('false')}`);
}

export function nullRule(writer: GbnfWriter): string {
  return writer.rule(writer.literal('null'));
}
