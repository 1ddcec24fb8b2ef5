/**
 * lib/tool-format owns user-supplied formats in JSON: checked against the schema, and for a possible grammar and
 * reader. It knows nothing of templates and models.
 */
import { Check, Errors } from 'typebox/value';
import { parseJson } from '../base/json.ts';
import { fail } from '../errors/svc-error.ts';
import { readSettingFile, type SettingFile } from '../files/plain-file.ts';
import { FORMAT_TEXT_BYTES } from '../../../packages/chat-templates/src/tool-format/format-names.ts';
import {
  type ChannelForm,
  callLead,
  type ToolFormat,
  type Words,
} from '../../../packages/chat-templates/src/tool-format/tool-format.ts';
import type { GivenFormat } from '../../../packages/chat-templates/src/tool-format/tool-format.ts';
import { GivenShape } from './format-shape.ts';

const FORMAT_FILE: SettingFile = { as: 'a tool format', mostBytes: FORMAT_TEXT_BYTES };

/** Throws `setting_file_unusable`, `file_not_found` or `store_unreadable`. */
export async function readFormatFile(path: string): Promise<string> {
  const { as } = FORMAT_FILE;
  const text = await readSettingFile(path, FORMAT_FILE);
  const read = readFormat(text);
  if ('defect' in read) throw fail('setting_file_unusable', { path, as, reason: read.defect });
  return text;
}

export function readFormat(text: string): { readonly given: GivenFormat } | { readonly defect: string } {
  const value = parseJson(text);
  if (value === undefined) return { defect: 'it is not JSON' };
  if (!Check(GivenShape, value)) return { defect: shapeDefect(value) };
  const given: GivenFormat = value;
  const defect = formatDefect(given);
  return defect === null ? { given } : { defect };
}

function shapeDefect(value: unknown): string {
  const [first] = Errors(GivenShape, value);
  const place = first?.instancePath.slice(1).replaceAll('/', '.') ?? '';
  // Unknown members are checked against the schema `false`.
  const message = first?.message === 'schema is false' ? 'is not a member that a format has' : first?.message;
  return `${place === '' ? 'it' : place} ${message ?? 'is not of the shape of one'}`;
}

/** Reason why no grammar or reader can be built, or null. */
export function formatDefect({ tools, channels, ...given }: GivenFormat): string | null {
  if (Object.keys(given).length === 0 && tools === undefined && channels === undefined)
    return 'it says nothing; give tools, thinking or content';
  const texts = allTexts({ ...given, tools, channels });
  if (texts.some((text) => UNPRINTABLE.test(text) || !isWellFormed(text)))
    return 'a text of it holds a control character, or half of one character';
  const hasChannels = channels !== undefined && channels !== null;
  if (tools === undefined || tools === null) return hasChannels ? 'channels need tools beside them' : null;
  return hasChannels ? channelDefect(channels, tools) : toolsDefect(tools);
}

/** A tab and a line break are part of some marks. */
// oxlint-disable-next-line no-control-regex -- control characters are exactly what is looked for
const UNPRINTABLE = /[\x00-\x08\x0b-\x1f\x7f]/;
const isWellFormed = (text: string): boolean =>
  !/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/.test(text);

function allTexts(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(allTexts) : [];
}

function channelDefect({ calls }: ChannelForm, { arguments: form }: ToolFormat): string | null {
  const named = calls.every((words) => slotCount(words, 'name') === 1);
  return named ? argumentsDefect(form) : 'each of channels.calls needs one slot "name"';
}

function toolsDefect(tools: ToolFormat): string | null {
  const { trigger, call, arguments: form } = tools;
  const opening = blankless(callLead(tools));
  if (blankless(trigger) === '' || !opening.startsWith(blankless(trigger)))
    return 'tools.trigger has to be the beginning of what a call is written behind (section.open and the first of call.before)';
  if (slotCount(call.before, 'name') !== 1) return 'tools.call.before needs one slot "name"';
  const behind = form.kind === 'json' ? '{' : form.beforeKey.trimStart();
  const words = [...call.before, behind];
  const runsOn = (word: Words[number], index: number): boolean =>
    typeof word === 'object' && !endsSlot(words[index + 1]);
  if (words.some(runsOn) || hasNeighbours(call.after))
    return 'what follows a slot of tools.call.before has to begin with another sign than letters, digits, _, - and .';
  return argumentsDefect(form);
}

function argumentsDefect(form: ToolFormat['arguments']): string | null {
  if (form.kind === 'json') return null;
  const { beforeValue, afterValue, between, strings, others } = form;
  const middles = typeof beforeValue === 'string' ? [beforeValue] : Object.values(beforeValue);
  if (middles.some(isBlank)) return 'tools.arguments.beforeValue has to hold more than white space';
  if (hasNeighbours(afterValue)) return 'a text has to stand between two slots of an argument';
  const ends = !isBlank(afterValue[0]);
  if (!ends && [strings, others].some(({ as }) => as === 'raw' || as === 'nested'))
    return 'tools.arguments.afterValue has to begin with a text, because nothing else ends a value that is written as it is';
  return ends || !isBlank(between) ? null : 'tools.arguments needs a text behind a value or between two';
}

const blankless = (text: string): string => text.replaceAll(/\s+/g, '');
const isBlank = (word: Words[number] | undefined): boolean => typeof word !== 'string' || word.trim() === '';
const slotCount = (words: Words, slot: string): number =>
  words.filter((word) => typeof word === 'object' && word.slot === slot).length;
/** Names and ids end before any other character. */
const endsSlot = (word: Words[number] | undefined): boolean =>
  typeof word === 'string' && /^[^\w.-]/.test(word);
const hasNeighbours = (words: Words): boolean =>
  words.some((word, index) => typeof word === 'object' && typeof words[index + 1] === 'object');
