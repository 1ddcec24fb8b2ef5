/** How Python writes its values: `str()`, `repr()`, and JSON as `json.dumps` does. */
import type { Budget } from './budget.ts';
import { Text } from './text.ts';
import {
  Callable,
  Dict,
  Float,
  isText,
  Namespace,
  Sequence,
  refusal,
  typeName,
  Undefined,
  type Value,
} from './values.ts';

export function textOf(value: Value, budget: Budget): Text {
  if (isText(value)) return value;
  if (value instanceof Undefined) return Text.own('');
  const written = scalar(value);
  if (written !== null) return Text.own(written);
  return written ?? joined(reprParts(value, budget), budget);
}

/** Quoted, as inside of a list that is written out. */
export function reprOf(value: Value, budget: Budget): Text {
  return joined(reprParts(value, budget), budget);
}

export interface JsonStyle {
  readonly indent: string | null;
  readonly separators: { readonly item: Text; readonly key: Text };
  readonly sortKeys: boolean;
  readonly asciiOnly: boolean;
}

export function jsonOf(value: Value, style: JsonStyle, budget: Budget): Text {
  return joined(jsonParts(value, style, '\n', budget), budget);
}

function joined(parts: readonly Text[], budget: Budget): Text {
  budget.text(parts.reduce((sum, { string }) => sum + string.length, 0));
  return Text.concat(parts);
}

function scalar(value: Value): string | null {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'number') return integer(value);
  if (value instanceof Float) return float(value.number);
  if (value instanceof Namespace) return `<${value.name}>`;
  return value instanceof Callable ? `<function ${value.name}>` : null;
}

function integer(value: number): string {
  return Number.isSafeInteger(value) ? String(value) : BigInt(value).toString();
}

/** The shortest digits that read back as the same number, with Python's choice of notation. */
export function float(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  if (value === 0) return Object.is(value, -0) ? '-0.0' : '0.0';
  const [mantissa = '', power = '0'] = value.toExponential().split('e');
  const exponent = Number(power);
  if (exponent < -4 || exponent >= 16) {
    const digits = String(Math.abs(exponent)).padStart(2, '0');
    return `${mantissa}e${exponent < 0 ? '-' : '+'}${digits}`;
  }
  const [sign, digits] = mantissa.startsWith('-') ? ['-', mantissa.slice(1)] : ['', mantissa];
  const all = digits.replace('.', '');
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${all}`;
  const whole = all.slice(0, exponent + 1).padEnd(exponent + 1, '0');
  return `${sign}${whole}.${all.slice(exponent + 1) || '0'}`;
}

function reprParts(value: Value, budget: Budget): Text[] {
  budget.spend(1);
  if (isText(value)) return [quoted(value)];
  if (value instanceof Sequence) {
    const [open, close] = value.kind === 'list' ? ['[', ']'] : ['(', value.items.length === 1 ? ',)' : ')'];
    const items = value.items.map((item) => reprParts(item, budget));
    return [Text.own(open), ...separated(items, Text.own(', ')), Text.own(close)];
  }
  if (value instanceof Dict) {
    const items = value
      .entries()
      .map(([key, item]) => [...reprParts(key, budget), Text.own(': '), ...reprParts(item, budget)]);
    return [Text.own('{'), ...separated(items, Text.own(', ')), Text.own('}')];
  }
  return [Text.own(value instanceof Undefined ? 'Undefined' : (scalar(value) ?? ''))];
}

function quoted(text: Text): Text {
  const quote = text.string.includes("'") && !text.string.includes('"') ? '"' : "'";
  const body = text.map((part) =>
    part.replace(
      /[\\'\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]/gu,
      (character) => escaped(character, quote),
    ),
  );
  return Text.concat([Text.own(quote), body, Text.own(quote)]);
}

function escaped(character: string, quote: string): string {
  if (character === "'") return quote === "'" ? "\\'" : "'";
  if (character === '\\') return '\\\\';
  const known = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }[character];
  if (known !== undefined) return known;
  const code = character.codePointAt(0) ?? 0;
  if (code <= 0xff) return `\\x${code.toString(16).padStart(2, '0')}`;
  if (code <= 0xffff) return `\\u${code.toString(16).padStart(4, '0')}`;
  return `\\U${code.toString(16).padStart(8, '0')}`;
}

function separated(items: readonly (readonly Text[])[], separator: Text): Text[] {
  return items.flatMap((item, i) => (i === 0 ? item : [separator, ...item]));
}

function jsonParts(value: Value, style: JsonStyle, line: string, budget: Budget): Text[] {
  budget.spend(1);
  if (isText(value)) return [jsonText(value, style)];
  if (value instanceof Sequence) {
    return enclosed(
      '[]',
      value.items.map((item) => jsonParts(item, style, inner(line, style), budget)),
      { style, line },
    );
  }
  if (value instanceof Dict) {
    const entries = style.sortKeys ? value.entries().sort(byKey) : value.entries();
    const items = entries.map(([key, item]) => [
      jsonKey(key, style),
      style.separators.key,
      ...jsonParts(item, style, inner(line, style), budget),
    ]);
    return enclosed('{}', items, { style, line });
  }
  return [Text.own(jsonScalar(value))];
}

function inner(line: string, { indent }: JsonStyle): string {
  return indent === null ? line : line + indent;
}

function enclosed(
  brackets: string,
  items: readonly (readonly Text[])[],
  { style, line }: { readonly style: JsonStyle; readonly line: string },
): Text[] {
  const [open = '', close = ''] = brackets;
  if (items.length === 0) return [Text.own(brackets)];
  const { item } = style.separators;
  if (style.indent === null) return [Text.own(open), ...separated(items, item), Text.own(close)];
  const between = Text.concat([item, Text.own(inner(line, style))]);
  return [Text.own(open + inner(line, style)), ...separated(items, between), Text.own(line + close)];
}

function jsonText(text: Text, { asciiOnly }: JsonStyle): Text {
  const body = text.map((part) => {
    const json = JSON.stringify(part).slice(1, -1);
    return asciiOnly ? json.replace(/[\u007f-\uffff]/g, unicodeEscape) : json;
  });
  return Text.concat([Text.own('"'), body, Text.own('"')]);
}

function unicodeEscape(character: string): string {
  if (character === '\u007f') return character;
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function jsonKey(key: Value, style: JsonStyle): Text {
  if (isText(key)) return jsonText(key, style);
  return Text.own(`"${jsonScalar(key)}"`);
}

function jsonScalar(value: Value): string {
  if (value === null) return 'null';
  if (typeof value === 'boolean') return String(value);
  if (typeof value === 'number') return integer(value);
  if (value instanceof Float) {
    const written = float(value.number);
    return { inf: 'Infinity', '-inf': '-Infinity', nan: 'NaN' }[written] ?? written;
  }
  throw refusal(`Object of type ${typeName(value)} is not JSON serializable`);
}

function byKey([a]: [Value, Value], [b]: [Value, Value]): number {
  const [left, right] = [isText(a) ? a.string : '', isText(b) ? b.string : ''];
  return left < right ? -1 : Number(left > right);
}
