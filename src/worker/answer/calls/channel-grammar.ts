import { gbnfLiteral, type GbnfWriter } from '../../../../packages/schema-grammar/src/gbnf/gbnf-writer.ts';
import type {
  ChannelForm,
  ToolFormat,
} from '../../../../packages/chat-templates/src/tool-format/tool-format.ts';
import { textUntil } from './free-text.ts';
import { type CallsRequest, callRules } from './call-grammar.ts';
import { wordsGbnf } from './words-grammar.ts';

interface ChannelRequest extends CallsRequest {
  readonly channels: ChannelForm;
  readonly format: ToolFormat;
  readonly required: boolean;
  readonly shaped: string | null;
}

export function channelRule(writer: GbnfWriter, request: ChannelRequest): string {
  const { channels, tools, required, shaped } = request;
  const start = `(${gbnfLiteral(channels.start)})?`;
  const call = tools.length === 0 ? null : callMessages(writer, request);
  if (required && call !== null) return writer.rule(`${start} ${call}`);
  const words = shaped === null ? freeWords(writer, request, call) : shapedWords(channels, shaped);
  return writer.rule([`${start} ${words}`, ...(call === null ? [] : [`${start} ${call}`])].join(' | '));
}

function shapedWords({ words, message }: ChannelForm, shaped: string): string {
  return `${gbnfLiteral(words + message)} ${shaped}`;
}

function freeWords(writer: GbnfWriter, { channels }: ChannelRequest, call: string | null): string {
  const [end = channels.start] = channels.ends;
  const headers = [channels.words, ...(channels.name === 'harmony' ? ['<|channel|>commentary'] : [])];
  const opening = writer.rule(headers.map((header) => gbnfLiteral(header + channels.message)).join(' | '));
  const next = writer.reserve();
  const follow = channels.start.startsWith(end) ? channels.start.slice(end.length) : channels.start;
  const text = textUntil(writer, end, next, true);
  const messages = [`${opening} ${text}`, ...(call === null ? [] : [call])].join(' | ');
  writer.define(next, `"" | ${follow === '' ? '' : gbnfLiteral(follow)} (${messages})`);
  return `${opening} ${text}`;
}

function callMessages(writer: GbnfWriter, request: ChannelRequest): string {
  const { channels, format, tools, maxCalls, unheld } = request;
  const calls = tools.flatMap((tool) => {
    const [body] = callRules(writer, format.arguments.kind === 'json' ? argumentsOnly(format) : format, {
      tools: [tool],
      maxCalls: 1,
      unheld,
    });
    const inside =
      body === undefined ? '""' : `${body.mark === '' ? '' : gbnfLiteral(body.mark)} ${body.tail}`;
    return channels.calls.map(
      (header) => `${wordsGbnf(header, tool.name)} ${gbnfLiteral(channels.message)} ${inside}`,
    );
  });
  const call = writer.rule(calls.join(' | '));
  if (!format.several || maxCalls === 1) return call;
  const [end = ''] = channels.ends;
  const between = channels.start.startsWith(end)
    ? gbnfLiteral(channels.start)
    : `${gbnfLiteral(end)} ${gbnfLiteral(channels.start)}`;
  return writer.rule(`${call} (${between} ${call}){0,${maxCalls - 1}}`);
}

function argumentsOnly(format: ToolFormat): ToolFormat {
  return { ...format, call: { before: [], after: [] }, section: { open: '', between: '', close: '' } };
}
