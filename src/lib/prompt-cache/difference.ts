/** Where two prompts that begin alike part, and why. Pure. */
import type { ChangeCause } from './causes.ts';
import { partAt, partsOf, type PromptWords } from './parts.ts';
import { volatileName } from './volatile-lines.ts';

/** A prompt as it was evaluated. */
export interface SeenPrompt {
  readonly tokens: ArrayLike<number>;
  /** What the tokens say, marks included; behind a prompt that was answered stands its answer. */
  readonly text: string;
  readonly words: PromptWords;
  /** Around thinking, where the model has some. */
  readonly thinking: { readonly open: string; readonly close: string } | null;
  /** What the tokens from one to another say. */
  readonly say: (from: number, to: number) => string;
}

export const PLACE_KINDS = ['message', 'tool', 'template', 'text'] as const;

/** Where in the request: a message or a tool of it, the words of the template between them, or text without any. */
export interface PromptPlace {
  readonly kind: (typeof PLACE_KINDS)[number];
  /** Of the message or the tool, from 0; of the one before words of the template, -1 before all. */
  readonly index: number;
  /** The role of a message, the name of a tool, else empty. */
  readonly name: string;
}

export interface PromptDifference {
  readonly cause: ChangeCause;
  /** The first token that differs, from 0: so many are the same. */
  readonly token: number;
  readonly place: PromptPlace;
  /** Whether something of the conversation was said behind the place: then the client changed what it had sent. */
  readonly isHistory: boolean;
  /** The words right before the difference, the same in both. */
  readonly shared: string;
  /** The words from the difference on: of the earlier prompt, and of this one. */
  readonly before: string;
  readonly now: string;
}

/** UTF-16 units of each text that is told. */
export const TOLD_UNITS = 160;
/** Texts that go on alike for longer than any token were cut into other tokens. */
const LONGEST_TOKEN = 48;

/** Null where the earlier prompt is the beginning of this one, or this one of the earlier. */
export function differenceOf(before: SeenPrompt, now: SeenPrompt): PromptDifference | null {
  const token = commonTokens(before.tokens, now.tokens);
  if (token >= Math.min(before.tokens.length, now.tokens.length - 1)) return null;
  const at = commonUnits(before.text, now.text);
  const isSameText = saysTheSame(before, now, token);
  const split = isSameText ? placeOfToken(now, token, at) : at;
  const [there, here] = [placeAt(before, split), placeAt(now, split)];
  // Words that are gone were somewhere, too.
  const changed = here.kind === 'template' ? firstTool(before, now, there) : laterTool(here, there);
  const place = answerBehind(now, changed);
  const isTool = [there, here, place].some(({ kind }) => kind === 'tool');
  const cause = isSameText ? 'answer_retokenised' : causeOf({ before, now, at, isTool });
  const isAnother = cause === 'text_changed' && !isSameConversation(before, now);
  return {
    cause,
    token,
    place,
    isHistory: isHistory(now, place) && !isAnother,
    shared: now.text.slice(Math.max(0, split - TOLD_UNITS), split).toWellFormed(),
    before: before.text.slice(split, split + TOLD_UNITS).toWellFormed(),
    now: now.text.slice(split, split + TOLD_UNITS).toWellFormed(),
  };
}

/** Which of the earlier prompts is the one to compare with: that which shares most, of equals the last. */
export function mostAlike<T extends { readonly tokens: ArrayLike<number> }>(
  earlier: readonly T[],
  tokens: ArrayLike<number>,
): { readonly prompt: T; readonly common: number } | null {
  let best: { readonly prompt: T; readonly common: number } | null = null;
  for (const prompt of earlier.toReversed()) {
    // Whatever shares more goes on alike there, so most are passed over by one look.
    if (best !== null && (best.common >= tokens.length || prompt.tokens[best.common] !== tokens[best.common]))
      continue;
    const common = commonTokens(prompt.tokens, tokens);
    if (best === null || common > best.common) best = { prompt, common };
  }
  return best;
}

/** Tokens behind the first that differs which are read as text. */
const READ_TOKENS = 48;

/** Whether the words go on alike behind the first token that differs, so that only their tokens do not. */
function saysTheSame(before: SeenPrompt, now: SeenPrompt, token: number): boolean {
  const [a, b] = [before, now].map(({ say }) => say(token, token + READ_TOKENS)) as [string, string];
  const common = commonUnits(a, b);
  return common > LONGEST_TOKEN || common === a.length;
}

/** Where the words of a token begin: those before it and behind it name the place. */
function placeOfToken({ text, say }: SeenPrompt, token: number, before: number): number {
  const behind = say(token, token + READ_TOKENS / 4);
  const from = text.lastIndexOf(say(token - READ_TOKENS / 4, token) + behind, before);
  return from < 0 ? before : from + say(token - READ_TOKENS / 4, token).length;
}

interface Parting {
  readonly before: SeenPrompt;
  readonly now: SeenPrompt;
  readonly at: number;
  /** Whether they part in a tool. */
  readonly isTool: boolean;
}

/**
 * 1. a line that is known to be a header in disguise
 * 2. a time of day or a date, in lines that are otherwise alike
 * 3. a line that looks like such a header
 * 4. the tools: in another order, or others
 * 5. thinking that the earlier prompt has and this one leaves out
 */
function causeOf({ before, now, at, isTool }: Parting): ChangeCause {
  const lines = [lineAt(before.text, at), lineAt(now.text, at)] as const;
  if (lines.some((line) => volatileName(line) !== null)) return 'volatile_line';
  const [one, other] = lines.map((line) => line.replaceAll(TIME, '#'));
  if (lines[0] !== lines[1] && one === other) return 'timestamp';
  if (areHeaders(...lines)) return 'volatile_line';
  if (isTool) return toolCause(before, now);
  return droppedThinking(before, now, at) ? 'thinking_dropped' : 'text_changed';
}

/** Dates, times of day, and Unix times in seconds or milliseconds. */
const TIME =
  /\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?\b|\b\d{1,2}:\d\d(?::\d\d(?:\.\d+)?)?(?:\s?[AP]M)?\b|\b1\d{9}(?:\d{3})?\b|\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? (?:\d{1,2} )?[A-Z][a-z]{2,8}(?: \d{1,2})?,? \d{4}\b/g;

/** Two lines `name: value` of one name, each value an id without white space. */
function areHeaders(one: string, other: string): boolean {
  const [a, b] = [one, other].map((line) => /^([A-Za-z][\w-]{2,63}):[ \t]*(\S{4,512})$/.exec(line.trim()));
  return a?.[1] !== undefined && a[1] === b?.[1] && [a[2], b[2]].every((value) => /\d/.test(value ?? ''));
}

function toolCause(before: SeenPrompt, now: SeenPrompt): ChangeCause {
  const [a, b] = [before, now].map(({ words }) => words.tools.map(({ name }) => name)) as [
    string[],
    string[],
  ];
  const isSameSet = a.length === b.length && [...a].sort().join('\n') === [...b].sort().join('\n');
  return isSameSet && a.join('\n') !== b.join('\n') ? 'tools_reordered' : 'tools_changed';
}

/** The earlier prompt thinks where they part, and goes on behind it as this one does. */
function droppedThinking({ text, thinking }: SeenPrompt, now: SeenPrompt, at: number): boolean {
  if (thinking === null) return false;
  const open = text.lastIndexOf(thinking.open, at);
  const from = open >= 0 && text.indexOf(thinking.close, open) >= at ? open : text.indexOf(thinking.open, at);
  const close = text.indexOf(thinking.close, from);
  // The marks may share their first characters with what stands in their place.
  if (from < 0 || close < 0 || from > at + thinking.open.length) return false;
  const rest = text.slice(close + thinking.close.length).trimStart();
  const there = now.text.slice(Math.min(from, at));
  const emptied = there.startsWith(thinking.open)
    ? there.slice(Math.max(0, there.indexOf(thinking.close)) + thinking.close.length)
    : there;
  return rest !== '' && emptied.trimStart().startsWith(rest.slice(0, SAME_UNITS));
}

/** Words that go on alike for so long are the same words. */
const SAME_UNITS = 12;

function placeAt({ text, words }: SeenPrompt, at: number): PromptPlace {
  const { messages } = words;
  if (messages.length === 0) return { kind: 'text', index: 0, name: '' };
  const parts = partsOf(text, words, at);
  const part = partAt(parts, at);
  if (part !== null) return { kind: part.kind, index: part.index, name: part.name };
  const last = parts.findLast(({ kind, end }) => kind === 'message' && end <= at);
  return { kind: 'template', index: last?.index ?? -1, name: last?.name ?? '' };
}

/** Where only one of the prompts has tools, what the template writes about tools stands before the first. */
function firstTool(before: SeenPrompt, now: SeenPrompt, place: PromptPlace): PromptPlace {
  const [[one], [other]] = [before.words.tools, now.words.tools];
  const only = one === undefined ? other : other === undefined ? one : undefined;
  const isBefore = place.kind === 'template' && place.index <= 0;
  return isBefore && only !== undefined ? { kind: 'tool', index: 0, name: only.name } : place;
}

/** The last tool of a prompt reaches further than its words, so one that follows it in the other is the one that differs. */
function laterTool(here: PromptPlace, there: PromptPlace): PromptPlace {
  return here.kind === 'tool' && there.kind === 'tool' && there.index > here.index ? there : here;
}

/** What the template writes before an answer that was sent back, such as thinking, belongs to that answer. */
function answerBehind({ words: { messages } }: SeenPrompt, place: PromptPlace): PromptPlace {
  const index = place.index + 1;
  const isAnswer = place.kind === 'template' && messages[index]?.role === 'assistant';
  return isAnswer ? { kind: 'message', index, name: 'assistant' } : place;
}

/** Conversations begin with what their user says first; system prompts may be the same in many. */
function isSameConversation(before: SeenPrompt, now: SeenPrompt): boolean {
  const [one, other] = [before, now].map(({ words }) => words.messages.find(({ role }) => role !== 'system'));
  return one?.content === other?.content;
}

/** Tools and system prompts are history as soon as anything is said; a message, when the model has answered it. */
function isHistory({ words: { messages } }: SeenPrompt, { kind, index }: PromptPlace): boolean {
  if (kind === 'text') return false;
  if (kind === 'tool' || messages[index]?.role === 'system') return true;
  return messages.slice(Math.max(0, index)).some(({ role }) => role === 'assistant');
}

function lineAt(text: string, at: number): string {
  const start = text.lastIndexOf('\n', at - 1) + 1;
  const end = text.indexOf('\n', at);
  const line = text.slice(
    Math.max(start, at - MOST_LINE),
    end < 0 ? at + MOST_LINE : Math.min(end, at + MOST_LINE),
  );
  // Marks of the template may stand before the first word and behind the last.
  return line
    .replace(/^(?:<[^<>\n]{1,64}>|\[[A-Z_/]{1,32}\])+[ \t]*/, '')
    .replace(/(?:<[^<>\n]{1,64}>)+$/, '');
}

const MOST_LINE = 512;

function commonTokens(a: ArrayLike<number>, b: ArrayLike<number>): number {
  const most = Math.min(a.length, b.length);
  let common = 0;
  while (common < most && a[common] === b[common]) common += 1;
  return common;
}

function commonUnits(a: string, b: string): number {
  const most = Math.min(a.length, b.length);
  let common = 0;
  while (common < most && a.charCodeAt(common) === b.charCodeAt(common)) common += 1;
  return common;
}
