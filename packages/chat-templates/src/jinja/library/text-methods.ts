import type { Budget } from '../values/budget.ts';
import { listItems } from '../values/comparing.ts';
import { firstPlace, lastPlace } from '../values/searching.ts';
import { Text } from '../values/text.ts';
import { isText, Sequence, refusal, typeName, type Value } from '../values/values.ts';
import { formatBraces } from './format.ts';
import type { Parameters } from './parameters.ts';

type Method = (text: Text, args: Parameters, budget: Budget) => Value;

/** Python's white space except four control characters; JavaScript's set differs. */
const SPACE = '[\\t-\\r \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]';
const LINE_END = new RegExp('\\r\\n|[\\n\\v\\f\\r\\x85\\u2028\\u2029]', 'g');
const LEADING = new RegExp(`^${SPACE}+`);
const BLANKS = new RegExp(`${SPACE}+`, 'g');
const IS_BLANK = new RegExp(`^${SPACE}$`);

export const TEXT_METHODS: Readonly<Record<string, Method>> = {
  upper: (text) => text.map((part) => part.toUpperCase()),
  lower: (text) => text.map((part) => part.toLowerCase()),
  capitalize: (text) => capitalized(text),
  title: (text) => text.map(titled),
  strip: (text, args) => stripped(text, args.next('chars'), 'both'),
  lstrip: (text, args) => stripped(text, args.next('chars'), 'left'),
  rstrip: (text, args) => stripped(text, args.next('chars'), 'right'),
  removeprefix: (text, args) => {
    const prefix = args.text('prefix').string;
    return text.string.startsWith(prefix) ? text.slice(prefix.length) : text;
  },
  removesuffix: (text, args) => {
    const suffix = args.text('suffix').string;
    if (suffix === '' || !text.string.endsWith(suffix)) return text;
    return text.slice(0, text.string.length - suffix.length);
  },
  startswith: (text, args, budget) =>
    testAny(args.next('prefix'), (prefix) => text.string.startsWith(prefix), budget),
  endswith: (text, args, budget) =>
    testAny(args.next('suffix'), (suffix) => text.string.endsWith(suffix), budget),
  find: (text, args, budget) => place(text, firstPlace(text.string, args.text('sub').string, budget)),
  rfind: (text, args, budget) => place(text, lastPlace(text.string, args.text('sub').string, budget)),
  index: (text, args, budget) => {
    const at = firstPlace(text.string, args.text('sub').string, budget);
    if (at < 0) throw refusal('substring not found');
    return place(text, at);
  },
  count: (text, args, budget) => {
    const { string } = args.text('sub');
    return string === '' ? text.length + 1 : findPlaces(text.string, string, Infinity, budget).length;
  },
  split: (text, args, budget) => {
    const separator = args.next('sep');
    return list(pieces(text, separator, args.integer('maxsplit', -1), budget), budget);
  },
  rsplit: (text, args, budget) => {
    const separator = args.next('sep');
    return list(lastPieces(text, separator, args.integer('maxsplit', -1), budget), budget);
  },
  splitlines: (text, args, budget) => list(lines(text, args.flag('keepends', false)), budget),
  partition: (text, args, budget) => {
    const separator = args.text('sep');
    const at = firstPlace(text.string, separator.string, budget);
    if (at < 0) return new Sequence([text, Text.own(''), Text.own('')], 'tuple');
    const end = at + separator.string.length;
    return new Sequence([text.slice(0, at), text.slice(at, end), text.slice(end)], 'tuple');
  },
  rpartition: (text, args, budget) => {
    const separator = args.text('sep');
    const at = lastPlace(text.string, separator.string, budget);
    if (at < 0) return new Sequence([Text.own(''), Text.own(''), text], 'tuple');
    const end = at + separator.string.length;
    return new Sequence([text.slice(0, at), text.slice(at, end), text.slice(end)], 'tuple');
  },
  join: (text, args, budget) =>
    joined(
      listItems(args.required('iterable'), budget).map((item) => {
        if (!isText(item)) throw refusal(`expected str instance, ${typeName(item)} found`);
        return item;
      }),
      text,
      budget,
    ),
  replace: (text, args, budget) => {
    const from = args.text('old').string;
    return replaced(text, { from, to: args.text('new'), most: args.integer('count', -1) }, budget);
  },
  format: (text, args, budget) => formatBraces(text, args.rest(), budget),
  isdigit: (text) => /^\p{Nd}+$/u.test(text.string),
  isdecimal: (text) => /^\p{Nd}+$/u.test(text.string),
  isnumeric: (text) => /^\p{N}+$/u.test(text.string),
  isalpha: (text) => /^\p{L}+$/u.test(text.string),
  isalnum: (text) => /^[\p{L}\p{N}]+$/u.test(text.string),
  isspace: (text) => text.string !== '' && text.string.replace(BLANKS, '') === '',
  isupper: (text) => isCased(text.string) && text.string === text.string.toUpperCase(),
  islower: (text) => isCased(text.string) && text.string === text.string.toLowerCase(),
  zfill: (text, args, budget) =>
    padded(text, { width: args.integer('width'), fill: '0', align: '>' }, budget),
  ljust: (text, args, budget) =>
    padded(text, { width: args.integer('width'), fill: ' ', align: '<' }, budget),
  rjust: (text, args, budget) =>
    padded(text, { width: args.integer('width'), fill: ' ', align: '>' }, budget),
  center: (text, args, budget) =>
    padded(text, { width: args.integer('width'), fill: ' ', align: '^' }, budget),
};

export function joined(items: readonly Text[], separator: Text, budget: Budget): Text {
  const between = separator.string.length * Math.max(0, items.length - 1);
  budget.text(items.reduce((sum, { string }) => sum + string.length, between));
  return Text.concat(
    separator.string === '' ? items : items.flatMap((item, i) => (i === 0 ? [item] : [separator, item])),
  );
}

export function stripped(text: Text, chars: Value, side: 'left' | 'right' | 'both'): Text {
  const isDropped = droppedBy(chars);
  const { string } = text;
  let start = 0;
  let end = string.length;
  if (side !== 'right') while (start < end && isDropped(string[start] ?? '')) start += 1;
  if (side !== 'left') while (end > start && isDropped(string[end - 1] ?? '')) end -= 1;
  return text.slice(start, end);
}

export function replaced(
  text: Text,
  { from, to, most }: { readonly from: string; readonly to: Text; readonly most: number },
  budget: Budget,
): Text {
  const places = findPlaces(text.string, from, most < 0 ? Number.POSITIVE_INFINITY : most, budget);
  budget.text(text.string.length + places.length * (to.string.length - from.length));
  budget.spend(places.length);
  const parts: Text[] = [];
  let at = 0;
  for (const place of places) {
    parts.push(text.slice(at, place), to);
    at = place + from.length;
  }
  return Text.concat([...parts, text.slice(at)]);
}

function findPlaces(string: string, wanted: string, most: number, budget: Budget): number[] {
  const places: number[] = [];
  let at = firstPlace(string, wanted, budget);
  while (at >= 0 && places.length < most) {
    places.push(at);
    at = at < string.length ? firstPlace(string, wanted, budget, at + Math.max(1, wanted.length)) : -1;
  }
  return places;
}

export function padded(
  text: Text,
  { width, fill, align }: { readonly width: number; readonly fill: string; readonly align: string },
  budget: Budget,
): Text {
  const missing = Math.max(0, width - text.length);
  budget.text(text.string.length + missing);
  const left = align === '<' ? 0 : align === '>' ? missing : Math.floor(missing / 2);
  return Text.concat([Text.own(fill.repeat(left)), text, Text.own(fill.repeat(missing - left))]);
}

export function capitalized(text: Text): Text {
  const [first] = text.string;
  if (first === undefined) return text;
  const rest = text.slice(first.length).map((part) => part.toLowerCase());
  return Text.concat([text.slice(0, first.length).map(initial), rest]);
}

/** One character may become two, of which only the first is a capital. */
function initial(character: string): string {
  const [first = '', ...more] = character.toUpperCase();
  return first + more.join('').toLowerCase();
}

function titled(part: string): string {
  return part.replace(/\p{L}+/gu, (word) => word.slice(0, 1).toUpperCase() + word.slice(1).toLowerCase());
}

function isCased(string: string): boolean {
  return string.toUpperCase() !== string.toLowerCase();
}

function droppedBy(chars: Value): (character: string) => boolean {
  if (chars === null) return (character) => IS_BLANK.test(character);
  if (!isText(chars)) throw refusal(`strip arg must be None or str`);
  const all = new Set(chars.string.split(''));
  return (character) => all.has(character);
}

function testAny(value: Value, test: (text: string) => boolean, budget: Budget): boolean {
  const counted = ({ string }: Text): boolean => {
    budget.read(string.length);
    return test(string);
  };
  if (isText(value)) return counted(value);
  if (value instanceof Sequence && value.kind === 'tuple')
    return listItems(value, budget).some((item) => isText(item) && counted(item));
  throw refusal(`first arg must be str or a tuple of str, not ${typeName(value)}`);
}

function place(text: Text, at: number): number {
  return at < 0 ? -1 : text.slice(0, at).length;
}

function list(items: Text[], budget: Budget): Sequence {
  budget.list(items.length);
  return new Sequence(items);
}

function pieces(text: Text, separator: Value, most: number, budget: Budget): Text[] {
  const limit = most < 0 ? Number.POSITIVE_INFINITY : most;
  if (separator === null) return words(text, limit);
  const by = separatorText(separator);
  const parts: Text[] = [];
  let at = 0;
  for (
    let next = firstPlace(text.string, by, budget);
    next >= 0 && parts.length < limit;
    next = firstPlace(text.string, by, budget, at)
  ) {
    parts.push(text.slice(at, next));
    at = next + by.length;
  }
  return [...parts, text.slice(at)];
}

function lastPieces(text: Text, separator: Value, most: number, budget: Budget): Text[] {
  if (most < 0) return pieces(text, separator, most, budget);
  if (separator === null) {
    const all = words(text, Number.POSITIVE_INFINITY);
    if (all.length <= most + 1) return all;
    throw refusal('rsplit() with a limit needs a separator here');
  }
  const by = separatorText(separator);
  const parts: Text[] = [];
  let end = text.string.length;
  while (parts.length < most) {
    const at = lastPlace(text.string, by, budget, end);
    if (at < 0) break;
    parts.push(text.slice(at + by.length, end));
    end = at;
  }
  return [text.slice(0, end), ...parts.toReversed()];
}

function separatorText(separator: Value): string {
  if (!isText(separator)) throw refusal(`must be str or None, not ${typeName(separator)}`);
  if (separator.string === '') throw refusal('empty separator');
  return separator.string;
}

function words(text: Text, limit: number): Text[] {
  const parts: Text[] = [];
  let at = LEADING.exec(text.string)?.[0].length ?? 0;
  for (const match of text.string.matchAll(BLANKS)) {
    if (match.index < at) continue;
    if (parts.length >= limit) break;
    parts.push(text.slice(at, match.index));
    at = match.index + match[0].length;
  }
  return at < text.string.length ? [...parts, text.slice(at)] : parts;
}

/** `keepEnds` keeps line ends. `keepLast`: the rest after the last line end counts as a line even if empty. */
export function lines(text: Text, keepEnds: boolean, keepLast = false): Text[] {
  const parts: Text[] = [];
  let at = 0;
  for (const match of text.string.matchAll(LINE_END)) {
    const end = match.index + match[0].length;
    parts.push(text.slice(at, keepEnds ? end : match.index));
    at = end;
  }
  return keepLast || at < text.string.length ? [...parts, text.slice(at)] : parts;
}
