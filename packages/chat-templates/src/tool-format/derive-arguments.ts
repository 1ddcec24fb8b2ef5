import { SENTINEL } from './probes.ts';
import { type CallFormat, JSON_TYPES, type JsonType, type ValueForm, type Words } from './tool-format.ts';
import { commonEnd, commonStart, splitUnits } from './units.ts';

interface Span {
  readonly start: number;
  readonly end: number;
}

export interface ReadArguments {
  readonly form: CallFormat['arguments'];
  spanIn(text: string, value: string): Span | null;
}

type RenderCall = (args: Readonly<Record<string, unknown>>) => string | null;

const { key: KEY, key2: KEY2, value: VALUE, value2: VALUE2, first: NAME } = SENTINEL;

export function readArguments(
  render: RenderCall,
  one: string,
  /** False: the template prints JSON unchanged, so its spaces prove nothing. */
  printsOwnJson: boolean,
): ReadArguments | null {
  const json = jsonSpan(one, VALUE);
  if (json === null) return taggedArguments(render);
  const isCompact = printsOwnJson && !one.slice(json.start, json.end).includes('": ');
  const spacing = isCompact ? 'compact' : 'spaced';
  return { form: { kind: 'json', spacing }, spanIn: jsonSpan };
}

function jsonSpan(text: string, value: string): Span | null {
  const at = text.indexOf(value);
  const start = text.lastIndexOf('{', at);
  const end = text.indexOf('}', at) + 1;
  if (at < 0 || start < 0 || end === 0) return null;
  try {
    const parsed: unknown = JSON.parse(text.slice(start, end));
    return Object.keys(Object(parsed)).join() === KEY ? { start, end } : null;
  } catch {
    return null;
  }
}

const KEY_MASK = '\uE004';

function taggedArguments(render: RenderCall): ReadArguments | null {
  const both = render({ [KEY]: VALUE, [KEY2]: VALUE2 });
  const places = both === null ? null : findPlaces(both, [NAME, KEY, VALUE, KEY2, VALUE2]);
  if (both === null || places === null) return null;
  const [name = 0, key = 0, value = 0, key2 = 0, value2 = 0] = places;
  const { strings, quote } = stringForm(both, value);
  const lead = both.slice(name + NAME.length, key);
  const gap = both.slice(value + VALUE.length + quote.length, key2).replace(KEY, KEY_MASK);
  const tail = both.slice(value2 + VALUE2.length + quote.length).replace(KEY2, KEY_MASK);
  const beforeValue = both.slice(key + KEY.length, value - quote.length);
  const beforeKey = commonEnd(lead, gap).trimStart();
  const rest = gap.slice(0, gap.length - beforeKey.length);
  const closing = commonStart(rest, tail).trimEnd();
  return {
    form: {
      kind: 'tagged',
      between: rest.slice(closing.length),
      beforeKey,
      beforeValue: beforeValues(render, beforeValue),
      afterValue: keyWords(closing),
      strings,
      others: otherForm(render, strings),
    },
    spanIn(text, word) {
      const at = text.indexOf(word);
      const start = text.lastIndexOf(KEY, at) - beforeKey.length;
      const after = closing.replace(KEY_MASK, KEY).length;
      return at < 0 || start < 0 ? null : { start, end: at + word.length + quote.length + after };
    },
  };
}

function findPlaces(text: string, words: readonly string[]): number[] | null {
  const places: number[] = [];
  for (const word of words) {
    const at = text.indexOf(word, places.at(-1) ?? 0);
    if (at < 0) return null;
    places.push(at);
  }
  return places;
}

function keyWords(text: string): Words {
  return text
    .split(/(\uE004)/)
    .filter((part) => part !== '')
    .map((part) => (part === KEY_MASK ? { slot: 'key' } : part));
}

function stringForm(text: string, at: number): { strings: ValueForm; quote: string } {
  const before = splitUnits(text.slice(0, at)).at(-1) ?? '';
  const after = splitUnits(text.slice(at + VALUE.length))[0] ?? '';
  if (before !== after || before.trim() === '') return { strings: { as: 'raw' }, quote: '' };
  if (before === '"') return { strings: { as: 'json' }, quote: before };
  const strings: ValueForm = before === "'" ? { as: 'python' } : { as: 'quoted', quote: before };
  return { strings, quote: before };
}

const EXAMPLES: Readonly<Record<Exclude<JsonType, 'string'>, unknown>> = {
  number: 42,
  boolean: true,
  null: null,
  array: [42],
  object: { k7: 42 },
};

function beforeValues(render: RenderCall, ofString: string): string | Record<JsonType, string> {
  const texts = JSON_TYPES.map((type) => {
    const text = type === 'string' ? null : render({ [KEY]: EXAMPLES[type], [KEY2]: VALUE2 });
    if (text === null) return ofString;
    const written = text.slice(text.indexOf(KEY) + KEY.length);
    return written.startsWith(ofString) ? ofString : annotated(written, ofString);
  });
  if (texts.every((text) => text === ofString)) return ofString;
  return Object.fromEntries(JSON_TYPES.map((type, index) => [type, texts[index] ?? ofString])) as Record<
    JsonType,
    string
  >;
}

function annotated(written: string, ofString: string): string {
  for (const { 0: word, index } of ofString.matchAll(/\w+/g)) {
    const [before, after] = [ofString.slice(0, index), ofString.slice(index + word.length)];
    const other = written.startsWith(before) ? /^\w+/.exec(written.slice(index)) : null;
    if (other !== null && written.startsWith(after, index + other[0].length))
      return before + other[0] + after;
  }
  return ofString;
}

function otherForm(render: RenderCall, strings: ValueForm): ValueForm {
  const text = render({ [KEY]: [{ k7: true }, 's7'], [KEY2]: VALUE2 }) ?? '';
  const flat = text.replaceAll(/\s/g, '');
  if (strings.as === 'python') return strings;
  const quote = /\[\{k7:true\},(\S{1,32}?)s7\1\]/.exec(flat)?.[1];
  if (quote !== undefined) return { as: 'quoted', quote };
  const nested = text.indexOf('<k7>');
  return nested < 0 ? { as: 'json' } : { as: 'nested', mark: markBefore(text.slice(0, nested)) };
}

function markBefore(text: string): string {
  const units = splitUnits(text);
  const from = units.findLastIndex((unit) => /^(?:<\/?\w+>|\s)$/.test(unit)) + 1;
  return units.slice(from).join('');
}
