/** `/set`: request fields other than model and messages, checked by the request's own schema. */
import { Check } from 'typebox/value';
import { parseJson } from '../../lib/base/json.ts';
import { didYouMean, nearest } from '../../lib/base/nearest.ts';
import { ChatRequest } from '../../wire/inference/chat.ts';
import type { Options } from './state.ts';

const NOT_OPTIONS: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'stream',
  'stream_options',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'n',
  'logprobs',
  'top_logprobs',
  'chat_template_kwargs',
]);

const schemas = Object.fromEntries(
  Object.entries(ChatRequest.properties).filter(([name]) => !NOT_OPTIONS.has(name)),
);

export function isOption(name: string): boolean {
  return Object.hasOwn(schemas, name);
}

export function describeOptions(options: Options): string {
  const set = Object.entries(options).filter(([, value]) => value !== undefined);
  const lines = set.map(
    ([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  return [
    lines.length === 0 ? 'No options are set; the model has its own defaults.' : lines.join('\n'),
    `Names: ${Object.keys(schemas).join(', ')}`,
  ].join('\n');
}

export function changeOption(
  options: Options,
  given: string,
): { readonly options: Options; readonly sentence: string } {
  const [, name = '', separator = '', text = ''] = /^([\w?]+)(\s*=\s*|\s+)?([\s\S]*)$/.exec(given) ?? [];
  if (!isOption(name)) {
    const close = didYouMean(nearest(name, Object.keys(schemas)));
    return { options, sentence: `There is no option ${name || given}.${close} /set alone lists them.` };
  }
  if (separator === '') {
    const value = options[name];
    return {
      options,
      sentence: value === undefined ? `${name} is not set.` : `${name}=${JSON.stringify(value)}`,
    };
  }
  if (text === '') {
    const { [name]: _, ...others } = options;
    return { options: others, sentence: `${name} is no longer set.` };
  }
  const read = readValue(name, text);
  if ('reason' in read) return { options, sentence: `${name}=${text} is not usable: it ${read.reason}.` };
  return {
    options: { ...options, [name]: read.value },
    sentence: `${name}=${text}, from the next answer on.`,
  };
}

function readValue(name: string, text: string): { readonly value: unknown } | { readonly reason: string } {
  const schema = schemas[name] ?? {};
  const readings = [parseJson(text), text].filter((value) => value !== undefined && value !== null);
  const value = readings.find((reading) => Check(schema, reading));
  if (value !== undefined) return { value };
  return { reason: `must be ${expected(schema)}` };
}

interface Described {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  string: 'text',
  array: 'a list in JSON',
  object: 'an object in JSON',
};

function expected({ type, enum: values, minimum, maximum }: Described): string {
  if (values !== undefined) return `one of ${values.filter((value) => value !== null).join(', ')}`;
  const names = [type ?? []].flat().flatMap((name) => TYPE_NAMES[name] ?? []);
  const range =
    minimum === undefined
      ? maximum === undefined
        ? ''
        : ` of at most ${maximum}`
      : maximum === undefined
        ? ` of at least ${minimum}`
        : ` from ${minimum} to ${maximum}`;
  return `${names.join(' or ')}${range}`;
}
