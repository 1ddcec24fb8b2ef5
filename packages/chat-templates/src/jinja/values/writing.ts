/** Python's output of values: `str()`, `repr()` and `json.dumps`. */
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

export function toText(value: Value, budget: Budget): Text {
  if (isText(value)) return value;
  if (value instanceof Undefined) return Text.own('');
  const written = scalar(value);
  if (written !== null) return Text.own(written);
  return written ?? joined(reprParts(value, budget), budget);
}

export function toRepr(value: Value, budget: Budget): Text {
  return joined(reprParts(value, budget), budget);
}

interface JsonStyle {
  readonly indent: string | null;
  readonly separators: { readonly item: Text; readonly key: Text };
  readonly sortKeys: boolean;
  readonly asciiOnly: boolean;
}

export function toJsonText(value: Value, style: JsonStyle, budget: Budget): Text {
  const parts: Text[] = [];
  new JsonWriter(style, budget, parts).write(value, '\n');
  return joined(parts, budget);
}

function joined(parts: readonly Text[], budget: Budget): Text {
  budget.text(parts.reduce((sum, { string }) => sum + string.length, 0));
  return Text.concat(parts);
}

function scalar(value: Value): string | null {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'number' || typeof value === 'bigint') return integer(value);
  if (value instanceof Float) return value.spelling ?? float(value.number);
  if (value instanceof Namespace) return `<${value.name}>`;
  return value instanceof Callable ? `<function ${value.name}>` : null;
}

function integer(value: number | bigint): string {
  return typeof value === 'bigint' || Number.isSafeInteger(value) ? String(value) : BigInt(value).toString();
}

/** The shortest digits that parse to the same number, in Python's notation. */
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

class JsonWriter {
  readonly #style: JsonStyle;
  readonly #budget: Budget;
  readonly #parts: Text[];

  constructor(style: JsonStyle, budget: Budget, parts: Text[]) {
    this.#style = style;
    this.#budget = budget;
    this.#parts = parts;
  }

  write(value: Value, line: string): void {
    this.#budget.spend(1);
    if (isText(value)) return this.#text(value);
    if (value instanceof Sequence)
      return this.#enclosed(BRACKETS, value.items, line, (item, inner) => this.write(item, inner));
    if (value instanceof Dict) {
      const entries = this.#style.sortKeys ? value.entries().sort(byKey) : value.entries();
      return this.#enclosed(BRACES, entries, line, ([key, item], inner) => {
        this.#key(key);
        this.#parts.push(this.#style.separators.key);
        this.write(item, inner);
      });
    }
    this.#parts.push(Text.own(jsonScalar(value)));
  }

  #enclosed<T>(
    [open, close, empty]: readonly [Text, Text, Text],
    items: readonly T[],
    line: string,
    write: (item: T, inner: string) => void,
  ): void {
    const { indent, separators } = this.#style;
    if (items.length === 0) return void this.#parts.push(empty);
    const inner = indent === null ? line : line + indent;
    const broken = indent === null ? null : Text.own(inner);
    this.#parts.push(open);
    for (const [at, item] of items.entries()) {
      if (at > 0) this.#parts.push(separators.item);
      if (broken !== null) this.#parts.push(broken);
      write(item, inner);
    }
    if (indent !== null) this.#parts.push(Text.own(line));
    this.#parts.push(close);
  }

  #key(key: Value): void {
    if (isText(key)) this.#text(key);
    else this.#parts.push(Text.own(`"${jsonScalar(key)}"`));
  }

  #text(text: Text): void {
    const { asciiOnly } = this.#style;
    const isPlain = !NOT_PLAIN_JSON.test(text.string);
    this.#parts.push(QUOTE, isPlain ? text.asPlain : jsonBody(text, asciiOnly), QUOTE);
  }
}

const QUOTE = Text.own('"');
const BRACKETS = ['[', ']', '[]'].map((text) => Text.own(text)) as unknown as readonly [Text, Text, Text];
const BRACES = ['{', '}', '{}'].map((text) => Text.own(text)) as unknown as readonly [Text, Text, Text];
const NOT_PLAIN_JSON = /[^ !#-[\]-~]/;

function jsonBody(text: Text, asciiOnly: boolean): Text {
  return text.map((part) => {
    const json = JSON.stringify(part).slice(1, -1);
    return asciiOnly ? json.replace(/[\u007f-\uffff]/g, unicodeEscape) : json;
  });
}

function unicodeEscape(character: string): string {
  if (character === '\u007f') return character;
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function jsonScalar(value: Value): string {
  if (value === null) return 'null';
  if (typeof value === 'boolean') return String(value);
  if (typeof value === 'number' || typeof value === 'bigint') return integer(value);
  if (value instanceof Float) {
    if (value.spelling !== undefined) return value.spelling;
    const written = float(value.number);
    return { inf: 'Infinity', '-inf': '-Infinity', nan: 'NaN' }[written] ?? written;
  }
  throw refusal(`Object of type ${typeName(value)} is not JSON serializable`);
}

function byKey([a]: [Value, Value], [b]: [Value, Value]): number {
  const [left, right] = [isText(a) ? a.string : '', isText(b) ? b.string : ''];
  return left < right ? -1 : Number(left > right);
}
