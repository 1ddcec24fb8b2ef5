/** Writes calls in the model's own syntax, for templates that drop the calls of past turns. */
import { SpelledNumber, spelled, writeJson, writeScalar } from '../../../exact-json/src/spelled-numbers.ts';
import { valueType } from './values/schema-types.ts';
import type { CallFormat, TaggedArguments, ToolFormat, ValueForm, Words } from './tool-format.ts';

interface WrittenCall {
  readonly name: string;
  readonly id: string;
  readonly arguments: unknown;
}

interface WrittenPart {
  readonly text: string;
  readonly isOwn: boolean;
}

export function writeCalls(format: ToolFormat, calls: readonly WrittenCall[]): WrittenPart[] {
  const { section, call } = format;
  const parts = calls.flatMap((written, index) => [
    own(index === 0 ? section.open : section.between),
    ...filled(call.before, written, index),
    ...writeArguments(format.arguments, spelled(written.arguments)),
    ...filled(call.after, written, index),
  ]);
  return [...parts, own(section.close)].filter(({ text }) => text !== '');
}

const own = (text: string): WrittenPart => ({ text, isOwn: true });
const client = (text: string): WrittenPart => ({ text, isOwn: false });

function filled(words: Words, { name, id }: WrittenCall, index: number, key = ''): WrittenPart[] {
  const slots = { name, id, key, index: String(index) };
  return words.map((word) => (typeof word === 'string' ? own(word) : client(slots[word.slot])));
}

function writeArguments(form: CallFormat['arguments'], value: unknown): WrittenPart[] {
  if (!hasMembers(value)) return [client(typeof value === 'string' ? value : writeJson(value))];
  if (form.kind === 'json') return [client(form.spacing === 'spaced' ? spacedJson(value) : writeJson(value))];
  return Object.entries(value).flatMap(([key, member], index) => [
    ...(index === 0 ? [] : [own(form.between)]),
    ...writePair(form, key, member),
  ]);
}

function hasMembers(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !(value instanceof SpelledNumber);
}

function writePair(form: TaggedArguments, key: string, value: unknown): WrittenPart[] {
  const middle = typeof form.beforeValue === 'string' ? form.beforeValue : form.beforeValue[valueType(value)];
  const call = { name: '', id: '', arguments: null };
  const text = writeValue(typeof value === 'string' ? form.strings : form.others, value);
  return [
    own(form.beforeKey),
    client(key),
    own(middle),
    client(text),
    ...filled(form.afterValue, call, 0, key),
  ];
}

function writeValue(form: ValueForm, value: unknown): string {
  switch (form.as) {
    case 'raw':
      return typeof value === 'string' ? value : spacedJson(value);
    case 'json':
      return spacedJson(value);
    case 'python':
      return pythonText(value);
    case 'quoted':
      return quotedText(value, form.quote);
    case 'nested':
      return nestedText(value, form.mark);
    default:
      return form satisfies never;
  }
}

function spacedJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spacedJson).join(', ')}]`;
  if (!hasMembers(value)) return writeScalar(value);
  const members = Object.entries(value).map(
    ([key, member]) => `${JSON.stringify(key)}: ${spacedJson(member)}`,
  );
  return `{${members.join(', ')}}`;
}

const PYTHON_WORDS = new Map<unknown, string>([
  [true, 'True'],
  [false, 'False'],
  [null, 'None'],
]);

export function pythonText(value: unknown): string {
  if (typeof value === 'string')
    return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n').replaceAll('\r', '\\r')}'`;
  if (Array.isArray(value)) return `[${value.map(pythonText).join(', ')}]`;
  if (!hasMembers(value)) return PYTHON_WORDS.get(value) ?? writeScalar(value);
  const members = Object.entries(value).map(([key, member]) => `${pythonText(key)}: ${pythonText(member)}`);
  return `{${members.join(', ')}}`;
}

export function quotedText(value: unknown, quote: string): string {
  if (typeof value === 'string') return quote + value + quote;
  if (Array.isArray(value)) return `[${value.map((item) => quotedText(item, quote)).join(',')}]`;
  if (!hasMembers(value)) return writeScalar(value);
  return `{${Object.entries(value)
    .map(([key, member]) => `${key}:${quotedText(member, quote)}`)
    .join(',')}}`;
}

function nestedText(value: unknown, mark: string): string {
  if (typeof value === 'string') return value;
  if (!hasMembers(value)) return writeScalar(value);
  const members = Array.isArray(value) ? value.map((item) => ['item', item] as const) : Object.entries(value);
  return members
    .map(([key, member]) => `${mark}<${key}>${nestedText(member, mark)}${mark}</${key}>`)
    .join('');
}
