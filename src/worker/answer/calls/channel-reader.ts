/**
 * Parses answers as messages with headers: a thought, text for the user, or a call of the tool that the header names.
 */
import {
  type ChannelForm,
  callLead,
  type ModelFormat,
  type ToolFormat,
} from '../../../../packages/chat-templates/src/tool-format/tool-format.ts';
import type { AnswerPart } from './body.ts';
import { type CallSink, readArguments, readCalls } from './call-reader.ts';
import { type CharSource, END, type Reading } from './char-source.ts';

/** Longest header, characters: after longer text, the answer has no headers, and all of it is text. */
const LONGEST_HEADER = 256;

export function* readChannels(source: CharSource, format: ModelFormat, sink: CallSink): Reading {
  const { channels, tools } = format;
  if (channels === null || tools === null) return;
  for (;;) {
    const header = yield* readHeader(source, channels);
    if (header === null) return;
    if (header.isText) {
      yield* readText(source, channels, 'text', sink, header.text);
      continue;
    }
    yield* readMessage(source, { channels, tools }, header.text, sink);
    if (!sink.mayCall()) return;
  }
}

interface Form {
  readonly channels: ChannelForm;
  readonly tools: ToolFormat;
}

function* readMessage(
  source: CharSource,
  { channels, tools }: Form,
  header: string,
  sink: CallSink,
): Reading {
  if (channels.thought !== null && header.includes(channels.thought) && !header.includes(channels.callee))
    return yield* readText(source, channels, 'reasoning', sink);
  const name = findCallee(header, channels);
  if (name === null || sink.tools.length === 0) {
    const kind = channels.thought !== null && header.includes(channels.thought) ? 'reasoning' : 'text';
    return yield* readText(source, channels, kind, sink);
  }
  if (tools.arguments.kind === 'json') {
    sink.add({ type: 'tool_call', name });
    if (yield* readArguments(source, tools, name, sink)) sink.finished();
  } else {
    const lead = [callLead(tools), ...tools.call.before.slice(1)];
    yield* readCalls(source, tools, { mark: '', lead }, sink);
    source.record(null);
  }
  yield* skipTo(source, channels);
}

function* readHeader(
  source: CharSource,
  channels: ChannelForm,
): Reading<{ text: string; isText: boolean } | null> {
  const { start, message, words, thought, callee } = channels;
  yield* source.takeAny([start]);
  let text = '';
  for (;;) {
    const char = yield* source.take();
    if (char === END) {
      const isNothing = text.trim() === '' || (source.isCut && mayBeHeader(text, channels));
      return isNothing ? null : { text, isText: !isHeader(text) };
    }
    text += char;
    if (text.endsWith(message)) {
      const header = text.slice(0, -message.length);
      const isKnown = callee === '' || header.trim() === words || isHeader(header) || header.trim() === '';
      return isKnown ? { text: header.trim(), isText: false } : { text, isText: true };
    }
    if (text.length > LONGEST_HEADER) return { text, isText: true };
  }

  function isHeader(header: string): boolean {
    return (
      (words !== '' && header.includes(words)) ||
      (thought !== null && header.includes(thought)) ||
      header.includes('<|channel|>') ||
      (callee !== '' && header.includes(callee))
    );
  }
}

function mayBeHeader(text: string, { start, message, words, callee, calls }: ChannelForm): boolean {
  const begun = text.trimStart();
  // If nothing precedes a name, any name is a header.
  if (callee === '') return /^[\w.-]*\s*$/.test(begun);
  const openings = [
    start,
    message,
    words,
    callee,
    ...calls.map(([first]) => (typeof first === 'string' ? first : '')),
  ];
  return openings
    .map((opening) => opening.trimStart())
    .some((opening) => opening !== '' && (begun.startsWith(opening) || opening.startsWith(begun)));
}

function findCallee(header: string, { callee, words }: ChannelForm): string | null {
  if (callee === '') return header === words ? null : header;
  const at = header.indexOf(callee);
  if (at < 0) return null;
  return /^[\w.-]+/.exec(header.slice(at + callee.length))?.[0] ?? null;
}

function* readText(
  source: CharSource,
  { ends, start }: ChannelForm,
  type: Extract<AnswerPart['type'], 'text' | 'reasoning'>,
  sink: CallSink,
  before = '',
): Reading {
  if (before !== '') sink.add({ type, text: before });
  let held = '';
  for (;;) {
    const char = yield* source.take();
    if (char === END) {
      if (held !== '' && !source.isCut) sink.add({ type, text: held });
      return;
    }
    held += char;
    while (held !== '') {
      if (ends.includes(held)) {
        // An end that opens the next message is parsed again as its beginning.
        if (start.startsWith(held)) source.giveBack(held);
        return;
      }
      const possible = held;
      if (ends.some((end) => end.startsWith(possible))) break;
      const [first = ''] = held;
      sink.add({ type, text: first });
      held = held.slice(first.length);
    }
  }
}

function* skipTo(source: CharSource, channels: ChannelForm): Reading {
  yield* readText(source, channels, 'text', {
    tools: [],
    calledTool: true,
    mayCall: () => true,
    add: () => {},
    finished: () => {},
  });
}
