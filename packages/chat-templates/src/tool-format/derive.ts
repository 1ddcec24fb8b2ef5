/** Derives a model's format from renderings of its chat template, completed from the table of exceptions. */
import { type AnswerFrame, deriveCalls } from './derive-calls.ts';
import { deriveContent, deriveThinking } from './derive-thinking.ts';
import {
  CHANNEL_FORMATS,
  exceptionFor,
  exceptionNamed,
  type FormatException,
  NAMED_FORMATS,
  KNOWN_THINKING,
} from './exceptions.ts';
import type { FormatChoice } from './format-names.ts';
import type { GivenFormat } from './tool-format.ts';
import { Probe, type Render, SENTINEL } from './probes.ts';
import {
  type CallFormat,
  type ContentMarks,
  type Evidence,
  type HistoryForm,
  callLead,
  type ModelFormat,
  type ThinkingMarks,
  type ToolsVariable,
  type ToolFormat,
} from './tool-format.ts';
import { isMark, splitUnits } from './units.ts';

interface DeriveOptions {
  readonly source: string;
  readonly render: Render;
  /** Thinking marks found without rendering; used if no rendering shows a thought. */
  readonly knownThinking: ThinkingMarks | null;
  readonly choice?: FormatChoice | GivenFormat;
}

const TOOLS: ToolsVariable = { name: 'tools', as: 'list' };
const USUAL: HistoryForm = { calls: 'template', arguments: 'object', emptyContent: 'empty', ids: 'any' };

export function deriveFormat(options: DeriveOptions): ModelFormat {
  const { choice = 'auto' } = options;
  const shown = shownFormat(options);
  if (choice === 'auto') return shown;
  if (typeof choice === 'object') return givenFormat(choice, shown);
  const chosen: Evidence = {
    about: 'choice',
    says: `The format "${choice}" was set for this model.`,
    probe: null,
  };
  const exception = exceptionNamed(choice);
  if (exception === undefined)
    return { ...shown, tools: null, channels: null, evidence: [chosen, ...shown.evidence] };
  if (exception.channels !== undefined) return ofChannels(exception, shown.thinking, shown.history, chosen);
  return {
    ...shown,
    channels: null,
    content: exception.content ?? shown.content,
    toolsVariable: exception.toolsVariable ?? shown.toolsVariable,
    tools: { ...named(exception.calls, ''), name: exception.name },
    history: { ...shown.history, calls: chooseWriter(shown, exception.calls) },
    evidence: [chosen, ...withOther(shown)],
  };
}

function givenFormat(given: GivenFormat, shown: ModelFormat): ModelFormat {
  const members = Object.keys(given).join(', ');
  const says = `The file that was set for this model gives: ${members}.`;
  const { tools } = given;
  const isOther = tools !== undefined && tools !== null;
  return {
    ...shown,
    ...(isOther ? { channels: null, restart: '' } : {}),
    history: isOther ? { ...shown.history, calls: chooseWriter(shown, tools) } : shown.history,
    ...given,
    evidence: [{ about: 'choice', says, probe: null }, ...(isOther ? withOther(shown) : shown.evidence)],
  };
}

/** Evidence that still applies when the user picked another call format. */
function withOther({ tools, evidence }: ModelFormat): readonly Evidence[] {
  return tools === null ? evidence.filter(({ about }) => about !== 'calls') : evidence;
}

/** The template's form of past calls is useless if it has another syntax. */
function chooseWriter({ tools, history }: ModelFormat, chosen: CallFormat): HistoryForm['calls'] {
  return tools !== null && syntaxKey(tools) === syntaxKey(chosen) ? history.calls : 'text';
}

const syntaxKey = ({ section, call, arguments: form }: CallFormat): string =>
  JSON.stringify([section, call, form]);

function shownFormat({ source, render, knownThinking }: DeriveOptions): ModelFormat {
  const newProbe = (style: Probe['style']): Probe => new Probe(render, style);
  const plain = newProbe(USUAL);
  const channels = exceptionFor(source, CHANNEL_FORMATS);
  const thought = deriveThinking(plain);
  const thinkingException = exceptionFor(source, KNOWN_THINKING);
  const thinking = channels?.thinking ?? thought?.marks ?? thinkingException?.thinking ?? knownThinking;
  const calls = deriveCalls(newProbe, (probe) => readFrame(probe, thinking));
  if (channels !== undefined) return ofChannels(channels, thinking, calls?.history ?? USUAL);
  const content = deriveContent(plain, thinking) ?? thinkingException?.content ?? null;
  const evidence = [...thinkingEvidence(thinking, thought?.probe ?? null), ...contentEvidence(content)];
  const restart = thought?.restart ?? '';
  const rest = { thinking, content, restart, channels: null, toolsVariable: TOOLS };
  if (calls !== null) {
    const format = withoutContentClose(calls.format, content);
    return {
      ...rest,
      tools: { ...named(format, readFrame(plain, null).tail), ...announcementIn(source) },
      history: calls.history,
      evidence: [...calls.evidence, ...evidence],
    };
  }
  const exception = /tools|functions/.test(source) ? exceptionFor(source, NAMED_FORMATS) : undefined;
  if (exception === undefined) {
    const says = 'The template writes no tool calls, so svc-tool-envelope is used.';
    return {
      ...rest,
      tools: null,
      history: USUAL,
      evidence: [{ about: 'calls', says, probe: null }, ...evidence],
    };
  }
  const tools = { ...named(exception.calls, ''), name: exception.name };
  const says = `The template writes no tool calls, but it contains ${quotedList(exception.texts)}, as "${exception.name}" does.`;
  return {
    ...rest,
    content: exception.content ?? content,
    toolsVariable: exception.toolsVariable ?? TOOLS,
    tools,
    history: { ...USUAL, calls: 'text' },
    evidence: [{ about: 'calls', says, probe: null }, ...evidence],
  };
}

function ofChannels(
  { name, texts, calls, channels }: FormatException,
  thinking: ThinkingMarks | null,
  history: HistoryForm,
  why?: Evidence,
): ModelFormat {
  const says = `The template contains ${quotedList(texts)}, as "${name}" does; its answers are messages with headers.`;
  return {
    tools: { ...calls, name, trigger: '' },
    channels: channels ?? null,
    thinking,
    content: null,
    restart: channels?.start ?? '',
    toolsVariable: TOOLS,
    history,
    evidence: [why ?? { about: 'calls', says, probe: null }],
  };
}

function readFrame(probe: Probe, thinking: ThinkingMarks | null): AnswerFrame {
  const { words } = SENTINEL;
  const plain = probe.answer({ words }) ?? '';
  const at = plain.indexOf(words);
  return {
    preamble: at < 0 ? '' : plain.slice(0, at),
    tail: at < 0 ? '' : plain.slice(at + words.length),
    thinkingClose: thinking?.close ?? null,
  };
}

/** Drops the end mark of words from the section, because empty words are closed before calls begin. */
function withoutContentClose(format: CallFormat, content: ContentMarks | null): CallFormat {
  const close = content?.close ?? '';
  if (close === '' || !format.section.open.startsWith(close)) return format;
  return {
    ...format,
    section: { ...format.section, open: format.section.open.slice(close.length).trimStart() },
  };
}

function named(format: CallFormat, tail: string): ToolFormat {
  const trigger = findTrigger(format, tail);
  return { ...format, name: `${formatKind(format)} ${trigger.replaceAll(/\s+/g, ' ')}`, trigger };
}

/** Llama 3 writes this before calls of tools that it was trained with, and sometimes before others. */
const PYTHON_TAG = '<|python_tag|>';

function announcementIn(source: string): Pick<ToolFormat, 'announcement'> {
  return source.includes(PYTHON_TAG) ? { announcement: PYTHON_TAG } : {};
}

/** First mark of a call, extended if that mark also ends words. */
function findTrigger(format: CallFormat, tail: string): string {
  const lead = callLead(format).trim();
  const units = splitUnits(lead);
  const [first = ''] = units;
  if (isMark(first) && !tail.includes(first)) return first;
  if (isMark(first)) return units.slice(0, units.findLastIndex(isMark) + 1).join('');
  return lead.split(/\s/, 1)[0] ?? lead;
}

function formatKind({ arguments: form }: CallFormat): string {
  if (form.kind === 'json') return 'json';
  return form.others.as === 'python' ? 'pythonic' : 'tagged';
}

function thinkingEvidence(thinking: ThinkingMarks | null, probe: string | null): Evidence[] {
  if (thinking === null)
    return [{ about: 'thinking', says: 'The template writes no thinking.', probe: null }];
  const where = `${JSON.stringify(thinking.open)} and ${JSON.stringify(thinking.close)}`;
  const says =
    probe === null
      ? `The template writes no thinking, but it or the vocabulary contains ${where}.`
      : `Thinking is written between ${where}.`;
  return [{ about: 'thinking', says, probe }];
}

function contentEvidence(content: ContentMarks | null): Evidence[] {
  if (content === null) return [];
  const where = `${JSON.stringify(content.open)} and ${JSON.stringify(content.close)}`;
  const says = `The answer itself is written between ${where}${content.always ? '' : ' after thinking'}.`;
  return [{ about: 'words', says, probe: content.always ? 'words alone' : 'words behind a thought' }];
}

function quotedList(texts: readonly string[]): string {
  return texts.map((text) => JSON.stringify(text)).join(', ');
}
