/**
 * Facts that no rendering reveals: headers of messages, and syntaxes that a template describes in words without
 * writing a call. Each entry is recognised by texts that no other family's template has.
 */
import { thinkingMarks } from '../form/thinking-marks.ts';
import type { FormatName } from './format-names.ts';
import type {
  CallFormat,
  ChannelForm,
  ContentMarks,
  ThinkingMarks,
  ToolsVariable,
  Words,
} from './tool-format.ts';

export interface FormatException {
  readonly name: FormatName;
  readonly texts: readonly string[];
  readonly without?: readonly string[];
  readonly calls: CallFormat;
  readonly channels?: ChannelForm;
  readonly thinking?: ThinkingMarks;
  readonly content?: ContentMarks;
  readonly toolsVariable?: ToolsVariable;
}

const NAME = { slot: 'name' } as const;
const SPACED = { kind: 'json', spacing: 'spaced' } as const;
const ALONE = { open: '', between: '', close: '' } as const;

/** Families whose answers are messages with headers; these override any rendering. */
export const CHANNEL_FORMATS: readonly FormatException[] = [
  {
    name: 'harmony',
    texts: ['<|channel|>', '<|message|>', 'commentary'],
    calls: json([' to=functions.', NAME, '<|channel|>commentary json<|message|>'], [], { several: false }),
    thinking: { open: '<|channel|>analysis<|message|>', close: '<|end|>' },
    channels: {
      name: 'harmony',
      start: '<|start|>assistant',
      message: '<|message|>',
      ends: ['<|end|>', '<|return|>', '<|call|>', '<|start|>'],
      words: '<|channel|>final',
      thought: 'analysis',
      callee: 'to=functions.',
      calls: [
        ['<|channel|>commentary to=functions.', NAME, ' <|constrain|>json'],
        ['<|channel|>commentary to=functions.', NAME],
        [' to=functions.', NAME, '<|channel|>commentary json'],
        [' to=functions.', NAME, '<|channel|>commentary <|constrain|>json'],
      ],
    },
  },
  {
    name: 'atem',
    texts: ['<atem:function_calls>', '<|message|>'],
    calls: {
      section: { open: '<atem:function_calls>\n', between: '\n', close: '\n</atem:function_calls>' },
      call: { before: ['<atem:invoke name="', NAME, '">\n'], after: ['\n</atem:invoke>'] },
      arguments: {
        kind: 'tagged',
        between: '\n',
        beforeKey: '<atem:parameter name="',
        beforeValue: '">',
        afterValue: ['</atem:parameter>'],
        strings: { as: 'raw' },
        others: { as: 'json' },
      },
      atStart: false,
      several: true,
    },
    thinking: { open: 'to=self<|message|>', close: '<|eom|>' },
    channels: {
      name: 'atem',
      start: '<|start|>assistant',
      message: '<|message|>',
      ends: ['<|eom|>', '<|eot|>', '<|start|>'],
      words: '',
      thought: 'to=self',
      callee: 'to=',
      calls: [[' to=', NAME]],
    },
  },
  {
    name: 'functionary',
    texts: ['>>>all'],
    calls: json([NAME, '\n'], [], { several: true }),
    channels: {
      name: 'functionary',
      start: '>>>',
      message: '\n',
      ends: ['>>>'],
      words: 'all',
      thought: null,
      callee: '',
      calls: [[NAME]],
    },
  },
];

export const NAMED_FORMATS: readonly FormatException[] = [
  {
    name: 'lfm',
    texts: ['<|tool_list_start|>'],
    calls: pythonic('<|tool_call_start|>[', ']<|tool_call_end|>'),
  },
  {
    name: 'lfm',
    texts: ['keep_past_thinking', 'List of tools: '],
    calls: pythonic('<|tool_call_start|>[', ']<|tool_call_end|>'),
  },
  {
    name: 'granite',
    texts: ['<|tool_call|>', '<|start_of_role|>'],
    calls: json(['{"name": "', NAME, '", "arguments": '], ['}'], {
      section: { open: '<|tool_call|>[', between: ', ', close: ']' },
    }),
    content: { open: '<response>', close: '</response>', always: false },
  },
  {
    name: 'phi',
    texts: ['<|tool_call|>', '<|/tool_call|>'],
    calls: json(['{"name": "', NAME, '", "arguments": '], ['}'], {
      section: { open: '<|tool_call|>[', between: ', ', close: ']<|/tool_call|>' },
    }),
  },
  {
    name: 'command-r',
    texts: ['directly-answer', 'Action:'],
    calls: json(['{\n        "tool_name": "', NAME, '",\n        "parameters": '], ['\n    }'], {
      section: { open: 'Action: ```json\n[\n    ', between: ',\n    ', close: '\n]\n```' },
    }),
  },
  {
    name: 'firefunction',
    toolsVariable: { name: 'functions', as: 'text' },
    texts: ['functools['],
    calls: json(['{"name": "', NAME, '", "arguments": '], ['}'], {
      section: { open: 'functools[', between: ', ', close: ']' },
    }),
  },
  {
    name: 'smollm',
    texts: ['<tool_call>', 'xml_tools'],
    toolsVariable: { name: 'xml_tools', as: 'list' },
    calls: json(['<tool_call>\n{"name": "', NAME, '", "arguments": '], ['}\n</tool_call>'], {
      section: { open: '', between: '\n', close: '' },
    }),
  },
  {
    name: 'hermes',
    texts: ['<tool_call>'],
    without: ['<function=', '<arg_key>'],
    calls: json(['<tool_call>\n{"name": "', NAME, '", "arguments": '], ['}\n</tool_call>'], {
      section: { open: '', between: '\n', close: '' },
    }),
  },
];

const THINK: ThinkingMarks = { open: '<think>', close: '</think>' };

export const KNOWN_THINKING: readonly {
  readonly texts: readonly string[];
  readonly thinking: ThinkingMarks;
  readonly content?: ContentMarks;
}[] = [
  {
    texts: ['[BEGIN FINAL RESPONSE] ... [END FINAL RESPONSE]'],
    thinking: { open: 'Here are my reasoning steps:', close: '[BEGIN FINAL RESPONSE]' },
    content: { open: '', close: '[END FINAL RESPONSE]', always: false },
  },
  {
    texts: ['<|inner_prefix|>', '<|inner_suffix|>'],
    thinking: { open: '<|inner_prefix|>', close: '<|inner_suffix|>' },
  },
  // These templates do not mention thoughts, and their models write them.
  { texts: ['<beginning_of_sentence>ai name='], thinking: THINK },
  { texts: ['You are MiMo, an AI assistant developed by Xiaomi.'], thinking: THINK },
];

/** Whether a template's text suggests thoughts; only rendering shows what it writes. */
export function tellsOfThinking(source: string): boolean {
  return (
    thinkingMarks(source, []) !== null ||
    /reasoning_content|reasoning_effort|enable_thinking/.test(source) ||
    exceptionFor(source, KNOWN_THINKING) !== undefined
  );
}

export function exceptionNamed(name: string): FormatException | undefined {
  return [...CHANNEL_FORMATS, ...NAMED_FORMATS].find((entry) => entry.name === name);
}

interface TextMatch {
  readonly texts: readonly string[];
  readonly without?: readonly string[];
}

export function exceptionFor<Entry extends TextMatch>(
  source: string,
  table: readonly Entry[],
): Entry | undefined {
  return table.find(
    ({ texts, without = [] }) =>
      texts.every((text) => source.includes(text)) && !without.some((text) => source.includes(text)),
  );
}

function json(before: Words, after: Words, rest: Partial<CallFormat> = {}): CallFormat {
  return {
    section: ALONE,
    call: { before, after },
    arguments: SPACED,
    atStart: false,
    several: true,
    ...rest,
  };
}

function pythonic(open: string, close: string): CallFormat {
  return {
    section: { open, between: ', ', close },
    call: { before: [NAME, '('], after: [')'] },
    arguments: {
      kind: 'tagged',
      between: ', ',
      beforeKey: '',
      beforeValue: '=',
      afterValue: [],
      strings: { as: 'python' },
      others: { as: 'python' },
    },
    atStart: false,
    several: true,
  };
}
