/** Python's string formatting: `'{}'.format(x)` and `'%s' % x`. */
import type { Budget } from '../values/budget.ts';
import { Text } from '../values/text.ts';
import {
  type Arguments,
  Dict,
  Float,
  isText,
  toNumber,
  Sequence,
  refusal,
  typeName,
  Undefined,
  type Value,
} from '../values/values.ts';
import { float, toRepr, toText } from '../values/writing.ts';

const BRACES = /\{\{|\}\}|\{([^{}:!]*)(?:!([rsa]))?(?::([^{}]*))?\}|[{}]/g;
const SPEC = /^(?:(.)?([<>=^]))?([-+ ])?(#)?(0)?(\d+)?(,)?(?:\.(\d+))?([bcdeEfFgGnosxX%])?$/su;
const PERCENT = /%(?:\(([^)%]*)\))?([-+ 0#]*)([1-9]\d*)?(?:\.(\d+))?([diouxXeEfFgGcrsa%])/g;
const WIDEST = 100_000;

export function formatBraces(pattern: Text, args: Arguments, budget: Budget): Text {
  let automatic = 0;
  return filled(pattern, BRACES, budget, ([whole, name = '', conversion, spec = '']) => {
    if (whole === '{{' || whole === '}}') return Text.own(whole.slice(1));
    if (whole === '{' || whole === '}') throw refusal(`Single '${whole}' encountered in format string`);
    const field = name === '' ? String(automatic) : name;
    if (name === '') automatic += 1;
    const value = fieldValue(field, args);
    const shown =
      conversion === 'r' ? toRepr(value, budget) : conversion === 's' ? toText(value, budget) : value;
    return formatted(shown, spec, budget);
  });
}

export function formatPercent(pattern: Text, values: Value, budget: Budget): Text {
  const all = values instanceof Sequence && values.kind === 'tuple' ? values.items : [values];
  let next = 0;
  const take = (): Value => {
    const value = all[next];
    if (value === undefined) throw refusal('not enough arguments for format string');
    next += 1;
    return value;
  };
  const text = filled(pattern, PERCENT, budget, ([, key, flags = '', width = '', precision, kind = 's']) => {
    if (kind === '%') return Text.own('%');
    const value = key === undefined ? take() : namedValue(values, key);
    const digits = precision === undefined ? '' : `.${precision}`;
    const align = flags.includes('-') ? '<' : '>';
    const sign = flags.includes('+') ? '+' : '';
    const zero = flags.includes('0') && align === '>' ? '0' : '';
    if ('rsa'.includes(kind)) {
      const text = kind === 's' ? toText(value, budget) : toRepr(value, budget);
      return formatted(text, `${align}${width}${digits}`, budget);
    }
    if (toNumber(value) === undefined)
      throw refusal(`%${kind} format: a real number is required, not ${typeName(value)}`);
    const isWhole = 'diou'.includes(kind);
    const number = isWhole && typeof value !== 'bigint' ? Math.trunc(toNumber(value) ?? 0) : value;
    const alignment = zero === '' ? align : '';
    return formatted(
      number,
      `${alignment}${sign}${zero}${width}${isWhole ? '' : digits}${isWhole ? 'd' : kind}`,
      budget,
    );
  });
  if (
    next < all.length &&
    !(values instanceof Dict) &&
    !(values instanceof Sequence && values.kind === 'list')
  )
    throw refusal('not all arguments converted during string formatting');
  return text;
}

function filled(pattern: Text, holes: RegExp, budget: Budget, fill: (match: RegExpMatchArray) => Text): Text {
  const parts: Text[] = [];
  let at = 0;
  for (const match of pattern.string.matchAll(holes)) {
    parts.push(pattern.slice(at, match.index), fill(match));
    at = (match.index ?? 0) + match[0].length;
  }
  parts.push(pattern.slice(at));
  budget.text(parts.reduce((sum, { string }) => sum + string.length, 0));
  return Text.concat(parts);
}

function fieldValue(field: string, { positional, named }: Arguments): Value {
  const [first = '', ...path] = field.split(/[.[]/).map((part) => part.replace(/\]$/, ''));
  const value = /^\d+$/.test(first) ? positional[Number(first)] : named.get(first);
  if (value === undefined) throw refusal(`there is nothing to fill {${field}} with`);
  return path.reduce<Value>((from, key) => namedValue(from, key), value);
}

function namedValue(from: Value, key: string): Value {
  const member =
    from instanceof Dict ? from.named(key) : from instanceof Sequence ? from.items[Number(key)] : undefined;
  if (member === undefined) throw refusal(`there is no "${key}" to fill in`);
  return member;
}

function formatted(value: Value, spec: string, budget: Budget): Text {
  if (value instanceof Undefined) throw refusal(value.reason);
  if (spec === '') return toText(value, budget);
  const match = SPEC.exec(spec);
  if (match === null) throw refusal(`Invalid format specifier '${spec}'`);
  const [, fill, align, sign = '', , zero, width = '0', comma, precision, kind] = match;
  if (Number(width) > WIDEST || Number(precision ?? 0) > 100) throw refusal('a format is too wide');
  const number = isText(value) ? undefined : toNumber(value);
  if (number === undefined) {
    const text = toText(value, budget);
    const cut = precision === undefined ? text : text.sliceCharacters(0, Number(precision));
    return aligned(cut, { fill: fill ?? ' ', align: align ?? '<', width: Number(width) }, budget);
  }
  const size = typeof value === 'bigint' ? BigInt(String(value).replace('-', '')) : Math.abs(number);
  const digits = written(size, { kind, precision, comma, isFloat: value instanceof Float });
  const signText = number < 0 || Object.is(number, -0) ? '-' : sign === '-' ? '' : sign;
  if (zero !== undefined && align === undefined)
    return Text.own(signText + digits.padStart(Number(width) - signText.length, '0'));
  return aligned(
    Text.own(signText + digits),
    { fill: fill ?? ' ', align: align ?? '>', width: Number(width) },
    budget,
  );
}

interface NumberStyle {
  readonly kind: string | undefined;
  readonly precision: string | undefined;
  readonly comma: string | undefined;
  readonly isFloat: boolean;
}

function written(number: number | bigint, { kind, precision, comma, isFloat }: NumberStyle): string {
  const plain = formatDigits(number, { kind, precision, comma, isFloat });
  if (comma === undefined) return plain;
  const [whole = '', rest] = plain.split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return rest === undefined ? grouped : `${grouped}.${rest}`;
}

function formatDigits(exact: number | bigint, { kind, precision, isFloat }: NumberStyle): string {
  const number = Number(exact);
  const places = Number(precision ?? 6);
  switch (kind) {
    case 'f':
    case 'F':
      return fixed(number, places);
    case '%':
      return `${fixed(number * 100, places)}%`;
    case 'e':
    case 'E': {
      const text = number.toExponential(places).replace(/e([-+])(\d)$/, 'e$10$2');
      return kind === 'E' ? text.toUpperCase() : text;
    }
    case 'g':
    case 'G':
      return general(number, Math.max(1, places));
    case 'x':
      return exact.toString(16);
    case 'X':
      return exact.toString(16).toUpperCase();
    case 'o':
      return exact.toString(8);
    case 'b':
      return exact.toString(2);
    case 'd':
    case 'n':
      return String(exact);
    default:
      if (precision !== undefined) return general(number, Math.max(1, places));
      return isFloat ? float(number) : String(exact);
  }
}

/** Python rounds an exact half to the even digit; JavaScript rounds it up. */
export function fixed(number: number, places: number): string {
  const below = Math.floor(number * 10 ** places);
  const isHalf = Number.isInteger(number * 2 ** (places + 1)) && number * 10 ** places - below === 0.5;
  return isHalf && below % 2 === 0 ? (below / 10 ** places).toFixed(places) : number.toFixed(places);
}

function general(number: number, digits: number): string {
  const text = number.toPrecision(digits);
  const bare = text.includes('.') ? text.replace(/\.?0+($|e)/, '$1') : text;
  return bare.replace(/e([-+])(\d)$/, 'e$10$2');
}

function aligned(
  text: Text,
  { fill, align, width }: { readonly fill: string; readonly align: string; readonly width: number },
  budget: Budget,
): Text {
  const missing = Math.max(0, width - text.length);
  budget.text(text.string.length + missing);
  const left = align === '<' ? 0 : align === '^' ? Math.floor(missing / 2) : missing;
  return Text.concat([Text.own(fill.repeat(left)), text, Text.own(fill.repeat(missing - left))]);
}
