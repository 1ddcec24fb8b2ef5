/**
 * chat-templates/tool-format owns a model's format of tool calls, thinking and words: its data, and its derivation
 * from a chat template by rendering conversations that differ in one place. It knows no jobs and no processes, and
 * receives the rendering function. Grammar, reader and history rendering in the worker use these data. This file: the
 * data.
 */
import type { ThinkingMarks } from '../form/thinking-marks.ts';

export type { ThinkingMarks };

export type SlotName = 'name' | 'id' | 'index' | 'key';

/** Literal texts with slots for the parts that differ from call to call. */
export type Words = readonly (string | { readonly slot: SlotName })[];

export const JSON_TYPES = ['string', 'number', 'boolean', 'null', 'array', 'object'] as const;
export type JsonType = (typeof JSON_TYPES)[number];

/** Form of a value between its tags: unchanged, as JSON, as Python prints it, in its own quotes, or in nested tags. */
export type ValueForm =
  | { readonly as: 'raw' | 'json' | 'python' }
  | { readonly as: 'quoted'; readonly quote: string }
  | { readonly as: 'nested'; readonly mark: string };

export interface TaggedArguments {
  readonly kind: 'tagged';
  readonly between: string;
  readonly beforeKey: string;
  /** Text between key and value: one text, or one per type if the template marks the type. */
  readonly beforeValue: string | Readonly<Record<JsonType, string>>;
  readonly afterValue: Words;
  readonly strings: ValueForm;
  readonly others: ValueForm;
}

interface JsonArguments {
  readonly kind: 'json';
  /** `spaced` allows one space after each colon and comma. */
  readonly spacing: 'compact' | 'spaced';
}

export interface CallFormat {
  /** Around all calls of an answer; empty texts if calls have no common frame. */
  readonly section: { readonly open: string; readonly between: string; readonly close: string };
  readonly call: { readonly before: Words; readonly after: Words };
  readonly arguments: JsonArguments | TaggedArguments;
  /** True: a call counts only at the start of an answer. */
  readonly atStart: boolean;
  readonly several: boolean;
}

export interface ToolFormat extends CallFormat {
  /** Display name, and value of `hearth set MODEL tool_format=…`. */
  readonly name: string;
  /** First mark of a call, which free text does not contain. */
  readonly trigger: string;
  readonly announcement?: string;
}

export interface ContentMarks {
  readonly open: string;
  readonly close: string;
  /** False: the marks occur only after thinking. */
  readonly always: boolean;
}

export interface HistoryForm {
  /** `text`: the template drops calls, so they are written into the content. */
  readonly calls: 'template' | 'text';
  readonly arguments: 'object' | 'text';
  readonly emptyContent: 'empty' | 'null';
  readonly ids: 'any' | 'nine' | 'functions';
}

/** Answers as messages with headers that name the recipient (harmony and similar formats). */
export interface ChannelForm {
  readonly name: string;
  /** Opening of every message but the first; the prompt ends with that of the first. */
  readonly start: string;
  readonly message: string;
  readonly ends: readonly string[];
  readonly words: string;
  readonly thought: string | null;
  readonly callee: string;
  readonly calls: readonly Words[];
}

export interface ToolsVariable {
  readonly name: 'tools' | 'xml_tools' | 'functions';
  readonly as: 'list' | 'text';
}

export interface ModelFormat {
  /** Null: the template knows no tools, so the envelope is used. */
  readonly tools: ToolFormat | null;
  /** Null: an answer is one message. */
  readonly channels: ChannelForm | null;
  readonly thinking: ThinkingMarks | null;
  readonly content: ContentMarks | null;
  readonly history: HistoryForm;
  readonly toolsVariable: ToolsVariable;
  readonly restart: string;
  readonly evidence: readonly Evidence[];
}

export const EVIDENCE_TOPICS = [
  'template',
  'choice',
  'calls',
  'several calls',
  'ids',
  'thinking',
  'words',
] as const;

export interface Evidence {
  readonly about: (typeof EVIDENCE_TOPICS)[number];
  readonly says: string;
  /** Conversation whose rendering shows it; null: no rendering does. */
  readonly probe: string | null;
}

export function callLead({ section, call }: CallFormat): string {
  const [first] = call.before;
  return section.open + (typeof first === 'string' ? first : '');
}

/** All literal texts of a format, of which a control token may be a part. */
export function formatLiterals({ section, call, arguments: form }: CallFormat): string[] {
  const words = [section.open, section.between, section.close, ...call.before, ...call.after];
  if (form.kind === 'tagged') {
    const { between, beforeKey, beforeValue, afterValue, strings, others } = form;
    const middles = typeof beforeValue === 'string' ? [beforeValue] : Object.values(beforeValue);
    words.push(between, beforeKey, ...middles, ...afterValue);
    for (const value of [strings, others]) {
      if (value.as === 'quoted') words.push(value.quote);
      if (value.as === 'nested') words.push(value.mark);
    }
  }
  return words.filter((word): word is string => typeof word === 'string' && word !== '');
}

type FormatData = Omit<ModelFormat, 'evidence'>;
/** Parts set by the user; the template determines the rest. */
export type GivenFormat = { readonly [Name in keyof FormatData]?: FormatData[Name] };
