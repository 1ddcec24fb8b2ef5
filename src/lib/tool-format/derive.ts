/** What a chat template says about its model: derived from renderings, completed from the table of exceptions. */
import { type AnswerFrame, deriveCalls } from './derive-calls.ts';
import { deriveContent, deriveThinking } from './derive-thinking.ts';
import {
  CHANNEL_FORMATS,
  exceptionFor,
  exceptionNamed,
  type FormatException,
  NAMED_FORMATS,
  TOLD_THINKING,
} from './exceptions.ts';
import type { FormatChoice } from './format-names.ts';
import { Probe, type Render, SENTINEL } from './probes.ts';
import {
  type CallFormat,
  type ContentMarks,
  type HistoryForm,
  leadOf,
  type ModelFormat,
  type ThinkingMarks,
  type ToolsVariable,
  type ToolFormat,
} from './tool-format.ts';
import { isMark, unitsOf } from './units.ts';

export interface DeriveOptions {
  readonly source: string;
  readonly render: Render;
  /** Marks of thinking that are found without rendering; used where no rendering shows a thought. */
  readonly knownThinking: ThinkingMarks | null;
  /** What the user chose in the place of what the template shows. */
  readonly choice?: FormatChoice;
}

const TOOLS: ToolsVariable = { name: 'tools', as: 'list' };
const USUAL: HistoryForm = { calls: 'template', arguments: 'object', emptyContent: 'empty', ids: 'any' };

export function deriveFormat(options: DeriveOptions): ModelFormat {
  const { choice = 'auto' } = options;
  if (choice === 'auto') return shownFormat(options);
  const chosen = `The format "${choice}" was set for this model.`;
  const shown = shownFormat(options);
  const exception = exceptionNamed(choice);
  if (exception === undefined)
    return { ...shown, tools: null, channels: null, evidence: [chosen, ...shown.evidence] };
  if (exception.channels !== undefined) return ofChannels(exception, shown.thinking, shown.history, chosen);
  const isDropped = shown.tools?.name !== exception.name && shown.history.calls === 'template';
  return {
    ...shown,
    channels: null,
    content: exception.content ?? shown.content,
    toolsVariable: exception.toolsVariable ?? shown.toolsVariable,
    tools: { ...named(exception.calls, ''), name: exception.name },
    // What the template writes of past calls is not in the chosen syntax.
    history: { ...shown.history, calls: isDropped ? 'text' : shown.history.calls },
    evidence: [chosen, ...shown.evidence],
  };
}

function shownFormat({ source, render, knownThinking }: DeriveOptions): ModelFormat {
  const probeOf = (voice: Probe['voice']): Probe => new Probe(render, voice);
  const plain = probeOf(USUAL);
  const channels = exceptionFor(source, CHANNEL_FORMATS);
  const thought = deriveThinking(plain);
  const told = TOLD_THINKING.find(({ texts }) => texts.every((text) => source.includes(text)));
  const thinking = channels?.thinking ?? thought?.marks ?? told?.thinking ?? knownThinking;
  const calls = deriveCalls(probeOf, (probe) => frameOf(probe, thinking));
  if (channels !== undefined) return ofChannels(channels, thinking, calls?.history ?? USUAL);
  const content = deriveContent(plain, thinking) ?? told?.content ?? null;
  const evidence = [...thinkingEvidence(thinking, thought !== null), ...contentEvidence(content)];
  const restart = thought?.restart ?? '';
  const rest = { thinking, content, restart, channels: null, toolsVariable: TOOLS };
  if (calls !== null) {
    const format = withoutContentClose(calls.format, content);
    const shown = `A call is rendered as ${JSON.stringify(calls.evidence)}.`;
    return {
      ...rest,
      tools: named(format, frameOf(plain, null).tail),
      history: calls.history,
      evidence: [shown, ...evidence],
    };
  }
  const exception = /tools|functions/.test(source) ? exceptionFor(source, NAMED_FORMATS) : undefined;
  if (exception === undefined) {
    return {
      ...rest,
      tools: null,
      history: USUAL,
      evidence: ['No rendering shows a call of a tool.', ...evidence],
    };
  }
  const tools = { ...named(exception.calls, ''), name: exception.name };
  const says = `No rendering shows a call; the template contains ${listOf(exception.texts)}, as "${exception.name}" does.`;
  return {
    ...rest,
    content: exception.content ?? content,
    toolsVariable: exception.toolsVariable ?? TOOLS,
    tools,
    history: { ...USUAL, calls: 'text' },
    evidence: [says, ...evidence],
  };
}

function ofChannels(
  { name, texts, calls, channels }: FormatException,
  thinking: ThinkingMarks | null,
  history: HistoryForm,
  why?: string,
): ModelFormat {
  return {
    tools: { ...calls, name, trigger: '' },
    channels: channels ?? null,
    thinking,
    content: null,
    restart: channels?.start ?? '',
    toolsVariable: TOOLS,
    history,
    evidence: [
      why ??
        `The template contains ${listOf(texts)}, as "${name}" does, whose answers are messages with headers.`,
    ],
  };
}

function frameOf(probe: Probe, thinking: ThinkingMarks | null): AnswerFrame {
  const { words } = SENTINEL;
  const plain = probe.answer({ words }) ?? '';
  const at = plain.indexOf(words);
  return {
    preamble: at < 0 ? '' : plain.slice(0, at),
    tail: at < 0 ? '' : plain.slice(at + words.length),
    thinkingClose: thinking?.close ?? null,
  };
}

/** Words without a text end before the calls begin. */
function withoutContentClose(format: CallFormat, content: ContentMarks | null): CallFormat {
  const close = content?.close ?? '';
  if (close === '' || !format.section.open.startsWith(close)) return format;
  return {
    ...format,
    section: { ...format.section, open: format.section.open.slice(close.length).trimStart() },
  };
}

function named(format: CallFormat, tail: string): ToolFormat {
  const trigger = triggerOf(format, tail);
  return { ...format, name: `${kindOf(format)} ${trigger.replaceAll(/\s+/g, ' ')}`, trigger };
}

/** The first mark of a call. A mark that ends words too says nothing yet, so more is needed then. */
function triggerOf(format: CallFormat, tail: string): string {
  const lead = leadOf(format).trim();
  const units = unitsOf(lead);
  const [first = ''] = units;
  if (isMark(first) && !tail.includes(first)) return first;
  if (isMark(first)) return units.slice(0, units.findLastIndex(isMark) + 1).join('');
  return lead.split(/\s/, 1)[0] ?? lead;
}

function kindOf({ arguments: form }: CallFormat): string {
  if (form.kind === 'json') return 'json';
  return form.others.as === 'python' ? 'pythonic' : 'tagged';
}

function thinkingEvidence(thinking: ThinkingMarks | null, seen: boolean): string[] {
  if (thinking === null) return ['No rendering shows a thought.'];
  const where = `${JSON.stringify(thinking.open)} and ${JSON.stringify(thinking.close)}`;
  return [seen ? `A thought is rendered between ${where}.` : `The template contains ${where}.`];
}

function contentEvidence(content: ContentMarks | null): string[] {
  if (content === null) return [];
  const where = `${JSON.stringify(content.open)} and ${JSON.stringify(content.close)}`;
  return [`Words are rendered between ${where}${content.always ? '' : ' behind a thought'}.`];
}

function listOf(texts: readonly string[]): string {
  return texts.map((text) => JSON.stringify(text)).join(', ');
}
