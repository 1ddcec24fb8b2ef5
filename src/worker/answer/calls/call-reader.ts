import {
  type CallFormat,
  type JsonType,
  JSON_TYPES,
  type SlotName,
  type TaggedArguments,
  type Words,
} from '../../../../packages/chat-templates/src/tool-format/tool-format.ts';
import { writeJson } from '../../../lib/json/spelled-numbers.ts';
import { nestedValue } from '../../../../packages/chat-templates/src/tool-format/values/nested-values.ts';
import { parseLoose } from '../../../../packages/chat-templates/src/tool-format/values/loose-values.ts';
import { isSchema } from '../../../../packages/chat-templates/src/tool-format/values/schema-types.ts';
import { taggedJson } from '../../../../packages/chat-templates/src/tool-format/values/tagged-values.ts';
import type { ToolDefinition } from '../../../contract/job.ts';
import type { AnswerPart } from './body.ts';
import { type CharSource, END, type Reading } from './char-source.ts';
import type { CallOpening } from './openings.ts';

export interface CallSink {
  readonly tools: readonly ToolDefinition[];
  readonly calledTool: boolean;
  mayCall(): boolean;
  add(part: AnswerPart): void;
  finished(): void;
}

/** Returns the text of a begun call that is not a call after all, with its mark, or "". */
export function* readCalls(
  source: CharSource,
  format: CallFormat,
  { mark, lead }: CallOpening,
  sink: CallSink,
): Reading<string> {
  let words = lead;
  source.record(mark);
  for (;;) {
    if (!(yield* readCall(source, format, words, sink))) return source.isCut ? '' : source.recorded();
    sink.finished();
    source.record('');
    if (!sink.mayCall()) return '';
    const next = nextWords(format);
    const [opening, ...rest] = next;
    const choice = yield* source.takeAny([typeof opening === 'string' ? opening : '', format.section.close]);
    if (choice !== 0) return '';
    words = rest;
  }
}

function* readCall(source: CharSource, format: CallFormat, lead: Words, sink: CallSink): Reading<boolean> {
  const name = yield* readWords(source, lead, sink);
  if (name === null) return false;
  if (!(yield* readArguments(source, format, name, sink))) return false;
  return (yield* readWords(source, format.call.after, null)) !== null;
}

function nextWords({ section, call }: CallFormat): Words {
  const [first, ...rest] = call.before;
  return typeof first === 'string' ? [section.between + first, ...rest] : [section.between, ...call.before];
}

/**
 * Reads literals and slots in turn. Returns the name from its slot ("" without one), or null if a literal is missing.
 */
function* readWords(source: CharSource, words: Words, sink: CallSink | null): Reading<string | null> {
  let name = '';
  for (const word of words) {
    if (typeof word === 'string') {
      if (word.trim() === '') yield* source.takeSpace();
      else if ((yield* source.takeAny([word])) < 0) return null;
      continue;
    }
    const text = yield* source.takeWhile(SLOT_CHARS[word.slot]);
    if (word.slot !== 'name' || name !== '') continue;
    name = text;
    sink?.add({ type: 'tool_call', name });
  }
  return name;
}

const isNameChar = (char: string): boolean => /[\w.-]/.test(char);
const SLOT_CHARS: Readonly<Record<SlotName, (char: string) => boolean>> = {
  name: isNameChar,
  id: isNameChar,
  index: (char) => /\d/.test(char),
  key: (char) => char !== '>',
};

export function* readArguments(
  source: CharSource,
  format: CallFormat,
  name: string,
  sink: CallSink,
): Reading<boolean> {
  if (format.arguments.kind === 'json') return yield* readJson(source, sink);
  const { parameters = {} } = sink.tools.find((tool) => tool.name === name) ?? {};
  return yield* readTagged(
    source,
    { form: format.arguments, after: leadingLiteral(format.call.after), parameters },
    sink,
  );
}

function* readJson(source: CharSource, sink: CallSink): Reading<boolean> {
  yield* source.takeSpace();
  let depth = 0;
  let inString = false;
  let isEscaped = false;
  for (;;) {
    const char = yield* source.take();
    if (char === END) return false;
    sink.add({ type: 'tool_arguments', text: char });
    if (isEscaped) {
      isEscaped = false;
    } else if (inString) {
      if (char === '\\') isEscaped = true;
      else if (char === '"') inString = false;
    } else if (char === '"') {
      inString = true;
    } else if (char === '{' || char === '[') {
      depth += 1;
    } else if (char === '}' || char === ']') {
      depth -= 1;
    }
    if (depth === 0 && !inString && !/\s/.test(char)) return true;
  }
}

interface TaggedCall {
  readonly form: TaggedArguments;
  readonly after: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

function* readTagged(source: CharSource, call: TaggedCall, sink: CallSink): Reading<boolean> {
  const { form, after } = call;
  const text = (part: string) => sink.add({ type: 'tool_arguments', text: part });
  text('{');
  for (let count = 0; ; count += 1) {
    const lead = count === 0 ? form.beforeKey : form.between + form.beforeKey;
    if (lead.trim() === '') {
      if (yield* follows(source, after)) break;
    } else if (yield* source.isNext(lead, [after])) {
      yield* source.takeAny([lead]);
    } else {
      break;
    }
    const pair = yield* readPair(source, call);
    if (pair === null) return false;
    text(`${count === 0 ? '' : ','}${JSON.stringify(pair.key)}:${pair.json}`);
  }
  text('}');
  return true;
}

function* follows(source: CharSource, text: string): Reading<boolean> {
  const space = yield* source.takeSpace();
  const char = yield* source.take();
  source.giveBack(space + char);
  return char === END || text.trim().startsWith(char);
}

function* readPair(source: CharSource, call: TaggedCall): Reading<{ key: string; json: string } | null> {
  const { form, parameters } = call;
  const middles = [
    ...new Set(typeof form.beforeValue === 'string' ? [form.beforeValue] : Object.values(form.beforeValue)),
  ];
  const common = middles.reduce(sharedStart);
  const key = yield* source.takeUntil(common.trimEnd());
  if (key === null) return null;
  const rests = middles.map((middle) => middle.slice(common.trimEnd().length));
  let types: readonly JsonType[] | null = null;
  if (rests.length > 1) {
    const middle = middles[yield* source.takeAny(rests)];
    types = JSON_TYPES.filter(
      (type) => typeof form.beforeValue !== 'string' && form.beforeValue[type] === middle,
    );
  } else if ((rests[0] ?? '').trim() !== '') {
    yield* source.takeAny(rests);
  } else {
    yield* takeExactly(source, rests[0] ?? '');
  }
  const { properties } = parameters;
  const name = key.trim();
  const schema = isSchema(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
  const text = yield* readValueText(source, call, key);
  if (text === null) return null;
  return { key: name, json: argumentJson(text, form, types, schema, parameters) };
}

function* takeExactly(source: CharSource, space: string): Reading {
  for (const wanted of space) {
    const char = yield* source.take();
    if (char === wanted) continue;
    source.giveBack(char);
    return;
  }
}

function* readValueText(
  source: CharSource,
  { form, after }: TaggedCall,
  key: string,
): Reading<string | null> {
  const behind = form.afterValue.map((word) => (typeof word === 'string' ? word : key)).join('');
  if (behind === '') return yield* readToEnd(source, form, after);
  const text = yield* source.takeUntil(behind.trim());
  if (text === null) return null;
  const space = /^\s*/.exec(behind)?.[0] ?? '';
  return space !== '' && text.endsWith(space) ? text.slice(0, -space.length) : text;
}

function* readToEnd(source: CharSource, form: TaggedArguments, after: string): Reading<string | null> {
  const ends = [form.between.trim(), after.trim()].map((text) => text[0] ?? '');
  const own = form.strings.as === 'quoted' ? form.strings.quote : null;
  let text = '';
  let depth = 0;
  for (;;) {
    const char = yield* source.take();
    if (char === END) return null;
    if (depth === 0 && ends.includes(char)) {
      source.giveBack(char);
      return text.trim();
    }
    text += char;
    if (own !== null && text.endsWith(own)) {
      const string = yield* source.takeUntil(own);
      if (string === null) return null;
      text += string + own;
    } else if (own === null && (char === '"' || char === "'")) {
      const string = yield* readQuoted(source, char);
      if (string === null) return null;
      text += string;
    } else if (char === '[' || char === '{' || char === '(') {
      depth += 1;
    } else if (char === ']' || char === '}' || char === ')') {
      depth -= 1;
    }
  }
}

function* readQuoted(source: CharSource, quote: string): Reading<string | null> {
  let text = '';
  for (;;) {
    const char = yield* source.take();
    if (char === END) return null;
    text += char;
    if (char === quote) return text;
    if (char === '\\') text += yield* source.take();
  }
}

function argumentJson(
  text: string,
  form: TaggedArguments,
  types: readonly JsonType[] | null,
  schema: unknown,
  root: unknown,
): string {
  if (types?.includes('string') === true) return JSON.stringify(text);
  if (types !== null) return taggedJson(text, undefined, root);
  if (form.others.as === 'nested') return writeJson(nestedValue(text, form.others.mark, schema, root));
  if (form.strings.as === 'raw') return taggedJson(text, schema, root);
  const quote = form.strings.as === 'quoted' ? form.strings.quote : null;
  const value = parseLoose(text, quote);
  return writeJson(value === undefined ? text : value);
}

function leadingLiteral([first]: Words): string {
  return typeof first === 'string' ? first : '';
}

function sharedStart(a: string, b: string): string {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length += 1;
  return a.slice(0, length);
}
