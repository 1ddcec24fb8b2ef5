/**
 * chat-templates/jinja/library owns filters, tests, methods and functions as Jinja and Python define them. It knows
 * no syntax and no chats.
 */
import type { Budget } from '../values/budget.ts';
import { listItems, valueLength } from '../values/comparing.ts';
import { Text } from '../values/text.ts';
import {
  Dict,
  Float,
  isText,
  isTrue,
  toNumber,
  orElse,
  Sequence,
  refusal,
  typeName,
  Undefined,
  type Value,
} from '../values/values.ts';
import { toText, toJsonText } from '../values/writing.ts';
import { pairs } from './containers.ts';
import { fixed, formatPercent } from './format.ts';
import { type Filter, type Engine, attributeName } from './engine.ts';
import { LIST_FILTERS } from './list-filters.ts';
import type { Parameters } from './parameters.ts';
import { capitalized, joined, lines, padded, replaced, stripped, TEXT_METHODS } from './text-methods.ts';

const toJson: Filter = (value, args, { budget }) => {
  const asciiOnly = args.flag('ensure_ascii', false);
  const indent = args.next('indent');
  const separators = args.next('separators');
  const sortKeys = args.flag('sort_keys', false);
  const columns = toNumber(indent);
  if (columns !== undefined) budget.text(columns);
  const margin =
    indent === null
      ? null
      : columns === undefined
        ? toText(indent, budget).string
        : ' '.repeat(Math.max(0, columns));
  return toJsonText(
    value,
    { indent: margin, separators: readSeparators(separators, margin !== null), sortKeys, asciiOnly },
    budget,
  );
};

const TEXT_FILTERS: Readonly<Record<string, Filter>> = {
  upper: (value, args, { budget }) => method('upper', value, args, budget),
  lower: (value, args, { budget }) => method('lower', value, args, budget),
  // A word ends at white space or a bracket; for the text method it ends at any other character.
  title: (value, _, { budget }) =>
    readText(value, budget).map((part) =>
      part.replace(/[^-\s({[<]+/g, (word) => word.slice(0, 1).toUpperCase() + word.slice(1).toLowerCase()),
    ),
  capitalize: (value, _, { budget }) => capitalized(readText(value, budget)),
  trim: (value, args, { budget }) => stripped(readText(value, budget), args.next('chars'), 'both'),
  string: (value, _, { budget }) => toText(value, budget),
  safe: (value, _, { budget }) => toText(value, budget).asMarkup,
  replace: (value, args, { budget }) => {
    const [from, to] = [toText(args.required('old'), budget), toText(args.required('new'), budget)];
    const most = args.optional('count');
    return replaced(
      readText(value, budget),
      { from: from.string, to, most: toNumber(most ?? null) ?? -1 },
      budget,
    );
  },
  format: (value, args, { budget }) => {
    const { positional, named } = args.rest();
    const values =
      named.size > 0
        ? new Dict([...named].map(([name, item]) => [Text.own(name), item] as const))
        : new Sequence([...positional], 'tuple');
    return formatPercent(readText(value, budget), values, budget);
  },
  indent: (value, args, { budget }) => indented(readText(value, budget), args, budget),
  center: (value, args, { budget }) =>
    padded(readText(value, budget), { width: args.integer('width', 80), fill: ' ', align: '^' }, budget),
  wordcount: (value, _, { budget }) => (readText(value, budget).string.match(/\w+/gu) ?? []).length,
  truncate: (value, args, { budget }) => truncated(readText(value, budget), args),
  escape,
  e: escape,
  forceescape: (value, _, { budget }) => escaped(readText(value, budget)),
  urlencode: (value, _, { budget }) =>
    readText(value, budget).map((part) =>
      encodeURIComponent(part).replace(/[!'()*]|%2F/g, (found) =>
        found === '%2F' ? '/' : `%${found.charCodeAt(0).toString(16).toUpperCase()}`,
      ),
    ),
  join: (value, args, engine) => {
    const separator = args.optional('d');
    const attribute = args.optional('attribute');
    const items = listItems(value, engine.budget).map((item) => {
      const member =
        attribute === undefined || attribute === null ? item : engine.member(item, attributeName(attribute));
      return toText(member, engine.budget);
    });
    return joined(
      items,
      separator === undefined ? Text.own('') : toText(separator, engine.budget),
      engine.budget,
    );
  },
  tojson: toJson,
};

const VALUE_FILTERS: Readonly<Record<string, Filter>> = {
  default: otherwise,
  d: otherwise,
  length: (value, _, { budget }) => valueLength(value, budget),
  count: (value, _, { budget }) => valueLength(value, budget),
  items: (value, _, { budget }) => {
    if (value instanceof Undefined) return new Sequence([]);
    if (!(value instanceof Dict)) throw refusal('Can only get item pairs from a mapping.');
    return pairs(value, budget);
  },
  // Dictionary entries are not attributes.
  attr: (value, args, engine) => engine.attribute(value, args.text('name').string),
  abs: (value) => (typeof value === 'bigint' && value < 0n ? -value : withNumber(value, Math.abs)),
  int: (value, args) => {
    const fallback = args.integer('default', 0);
    if (typeof value === 'bigint') return value;
    const text = isText(value) ? value.string.trim() : null;
    const number =
      text === null
        ? toNumber(value)
        : /^[-+]?\d+(\.\d*)?(e[-+]?\d+)?$/i.test(text)
          ? Number(text)
          : undefined;
    return number === undefined || !Number.isFinite(number) ? fallback : Math.trunc(number);
  },
  float: (value, args) => {
    const fallback = toNumber(args.optional('default') ?? 0) ?? 0;
    const text = isText(value) ? value.string.trim() : null;
    const number = text === null ? toNumber(value) : text === '' ? undefined : Number(text);
    return new Float(number === undefined || Number.isNaN(number) ? fallback : number);
  },
  round: (value, args) => {
    const places = args.integer('precision', 0);
    const how = args.text('method', 'common').string;
    const number = toNumber(value);
    if (number === undefined) throw refusal(`must be real number, not ${typeName(value)}`);
    return new Float(rounded(number, places, how));
  },
  pprint: (value, _, { budget }) => toText(value, budget),
};

export const FILTERS: ReadonlyMap<string, Filter> = new Map(
  Object.entries({ ...TEXT_FILTERS, ...VALUE_FILTERS, ...LIST_FILTERS }),
);

function method(name: string, value: Value, args: Parameters, budget: Budget): Value {
  const text = readText(value, budget);
  return TEXT_METHODS[name]?.(text, args, budget) ?? text;
}

function readText(value: Value, budget: Budget): Text {
  const text = toText(value, budget);
  budget.text(text.string.length);
  return text;
}

function otherwise(value: Value, args: Parameters): Value {
  const fallback = orElse(args.optional('default_value'), () => Text.own(''));
  const alsoFalse = args.flag('boolean', false);
  const isMissing = value instanceof Undefined || (alsoFalse && !isTrue(value));
  return isMissing ? fallback : value;
}

function withNumber(value: Value, work: (number: number) => number): Value {
  const number = toNumber(value);
  if (number === undefined) throw refusal(`bad operand type: '${typeName(value)}'`);
  return value instanceof Float ? new Float(work(number)) : work(number);
}

function rounded(number: number, places: number, how: string): number {
  const factor = 10 ** places;
  if (how === 'ceil') return Math.ceil(number * factor) / factor;
  if (how === 'floor') return Math.floor(number * factor) / factor;
  return places < 0 ? Math.round(number * factor) / factor : Number(fixed(number, places));
}

function indented(text: Text, args: Parameters, budget: Budget): Text {
  const width = args.optional('width') ?? 4;
  const first = args.flag('first', false);
  const blank = args.flag('blank', false);
  const columns = toNumber(width);
  if (columns !== undefined) budget.text(columns);
  const margin = columns === undefined ? toText(width, budget) : Text.own(' '.repeat(Math.max(0, columns)));
  const all = lines(text, false, true);
  budget.text(text.string.length + all.length * margin.string.length);
  return joined(
    all.map((line, i) => {
      const isIndented = i === 0 ? first : blank || line.string !== '';
      return isIndented ? Text.concat([margin, line]) : line;
    }),
    Text.own('\n'),
    budget,
  );
}

function truncated(text: Text, args: Parameters): Text {
  const length = args.integer('length', 255);
  const killWords = args.flag('killwords', false);
  const end = args.text('end', '...');
  const leeway = args.integer('leeway', 5);
  if (text.length <= length + leeway) return text;
  const cut = text.sliceCharacters(0, length - end.length);
  const lastSpace = cut.string.lastIndexOf(' ');
  const kept = killWords || lastSpace < 0 ? cut : cut.slice(0, lastSpace);
  return Text.concat([kept, end]);
}

const HTML = { '&': '&amp;', '<': '&lt;', '>': '&gt;', "'": '&#39;', '"': '&#34;' };

function escape(value: Value, _: Parameters, { budget }: Engine): Text {
  const text = readText(value, budget);
  return text.isMarkup ? text : escaped(text);
}

export function escaped(text: Text): Text {
  const html = text.map((part) =>
    part.replace(/[&<>'"]/g, (character) => HTML[character as keyof typeof HTML]),
  );
  return html.asMarkup;
}

function readSeparators(value: Value, isIndented: boolean): { item: Text; key: Text } {
  if (value === null) return { item: Text.own(isIndented ? ',' : ', '), key: Text.own(': ') };
  const [item, key] = value instanceof Sequence ? value.items : [];
  if (item === undefined || key === undefined || !isText(item) || !isText(key))
    throw refusal('separators are two texts');
  return { item, key };
}
