import type { ChatRequest } from '../../../src/wire/inference/chat.ts';
import { type AttachedImage, attachedImages, withAttached } from './attachments.ts';
import type { Entry } from './entry.ts';

/** As typed; empty: the model's default. */
export const NUMBERS = [
  { field: 'temperature', label: 'Temperature', step: 0.1, hint: '0 always takes the likeliest token' },
  { field: 'top_p', label: 'Top p', step: 0.05, hint: 'likeliest tokens up to this probability' },
  { field: 'top_k', label: 'Top k', step: 1, hint: 'number of candidates; 0 is all' },
  { field: 'min_p', label: 'Min p', step: 0.01, hint: 'drops tokens below this share of the likeliest' },
  { field: 'repeat_penalty', label: 'Repeat penalty', step: 0.05, hint: '1 is no penalty' },
  { field: 'seed', label: 'Seed', step: 1, hint: 'the same seed repeats the same choices' },
  { field: 'max_tokens', label: 'Maximum tokens', step: 1, hint: 'where the answer is cut' },
  {
    field: 'num_ctx',
    label: 'Context window',
    step: 1,
    hint: 'tokens; at most what the model was trained for',
  },
] as const satisfies readonly { field: keyof ChatRequest; label: string; step: number; hint: string }[];
export type NumberField = (typeof NUMBERS)[number]['field'];

export const EFFORTS = ['none', 'low', 'medium', 'high'] as const;

export interface ToolDraft {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments, as typed. */
  readonly parameters: string;
  readonly from?: RemoteTool;
}

export interface RemoteTool {
  readonly server: string;
  readonly name: string;
}

export interface Settings {
  readonly system: string;
  readonly numbers: Readonly<Partial<Record<NumberField, string>>>;
  /** One stop string per line. */
  readonly stop: string;
  readonly effort: '' | (typeof EFFORTS)[number];
  readonly tools: readonly ToolDraft[];
  readonly toolChoice: 'auto' | 'required' | 'none';
  /** JSON Schema of the answer, as typed; empty: free text. */
  readonly schema: string;
}

export const emptySettings = (): Settings => ({
  system: '',
  numbers: {},
  stop: '',
  effort: '',
  tools: [],
  toolChoice: 'auto',
  schema: '',
});

export const SAMPLE_TOOL: ToolDraft = {
  name: 'get_weather',
  description: 'Current weather of a city',
  parameters:
    '{\n  "type": "object",\n  "properties": { "city": { "type": "string" } },\n  "required": ["city"]\n}',
};

export const SAMPLE_SCHEMA =
  '{\n  "type": "object",\n  "properties": {\n    "answer": { "type": "string" },\n    "sure": { "type": "boolean" }\n  },\n  "required": ["answer", "sure"]\n}';

export function faultOfJson(text: string): string | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? null
      : 'It must be a JSON object.';
  } catch (error) {
    return error instanceof Error ? error.message : 'It is not JSON.';
  }
}

export function faultOf({ tools, schema }: Settings): string | null {
  for (const { name, parameters } of tools) {
    if (name === '') return 'A tool needs a name.';
    const fault = faultOfJson(parameters);
    if (fault !== null) return `The parameters of ${name} are not usable: ${fault}`;
  }
  const fault = schema.trim() === '' ? null : faultOfJson(schema);
  return fault === null ? null : `The JSON Schema is not usable: ${fault}`;
}

export interface ActiveSetting {
  readonly words: string;
  readonly cleared: Partial<Settings>;
}

export function activeSettings({ system, numbers, stop, effort, tools, schema }: Settings): ActiveSetting[] {
  const when = (isSet: boolean, words: string, cleared: Partial<Settings>): ActiveSetting[] =>
    isSet ? [{ words, cleared }] : [];
  return [
    ...when(system.trim() !== '', 'System prompt', { system: '' }),
    ...when(schema.trim() !== '', 'JSON Schema', { schema: '' }),
    ...when(tools.length > 0, tools.length === 1 ? '1 tool' : `${tools.length} tools`, { tools: [] }),
    ...NUMBERS.flatMap(({ field, label }) => {
      const value = numbers[field] ?? '';
      return when(value !== '', `${label} ${value}`, { numbers: { ...numbers, [field]: '' } });
    }),
    ...when(effort !== '', `Reasoning ${effort}`, { effort: '' }),
    ...when(stop.trim() !== '', 'Stop texts', { stop: '' }),
  ];
}

/** Contains nothing that the user did not set. */
export function requestOf(model: string, path: readonly Entry[], settings: Settings): ChatRequest {
  const { system, effort, tools, toolChoice, schema } = settings;
  // A model that must call a tool again could never report the result.
  const choice = toolChoice === 'required' && path.at(-1)?.role === 'tool' ? 'auto' : toolChoice;
  const stop = settings.stop.split('\n').filter((line) => line !== '');
  return {
    model,
    messages: [
      ...(system.trim() === '' ? [] : [{ role: 'system' as const, content: system }]),
      ...path.filter(isSaid).map(messageOf),
    ],
    ...numbersOf(settings),
    ...(stop.length > 0 ? { stop } : {}),
    ...(effort === '' ? {} : { reasoning_effort: effort }),
    ...(tools.length > 0 ? { tools: tools.map(toolOf) } : {}),
    ...(tools.length > 0 && choice !== 'auto' ? { tool_choice: choice } : {}),
    ...(schema.trim() === '' ? {} : { response_format: formatOf(schema) }),
  };
}

function numbersOf({ numbers }: Settings): Partial<Record<NumberField, number>> {
  const given = Object.entries(numbers).filter(([, text]) => text !== '' && Number.isFinite(Number(text)));
  return Object.fromEntries(given.map(([field, text]) => [field, Number(text)]));
}

/** Skips answers that failed before their first word. */
const isSaid = ({ role, text, calls = [] }: Entry): boolean =>
  role !== 'assistant' || text !== '' || calls.length > 0;

function messageOf({ role, text, files, calls, callId }: Entry): ChatRequest['messages'][number] {
  if (role === 'tool') return { role, content: text, tool_call_id: callId ?? '' };
  if (role === 'assistant' && calls !== undefined && calls.length > 0)
    return { role, content: text === '' ? null : text, tool_calls: [...calls] };
  return { role, content: messageContent(withAttached(text, files), attachedImages(files)) };
}

/** Images precede the text, as files do. */
const messageContent = (text: string, images: readonly AttachedImage[]) =>
  images.length === 0
    ? text
    : [
        ...images.map(({ url }) => ({ type: 'image_url', image_url: { url } })),
        ...(text === '' ? [] : [{ type: 'text', text }]),
      ];

const toolOf = ({ name, description, parameters }: ToolDraft): object => ({
  type: 'function',
  function: {
    name,
    ...(description === '' ? {} : { description }),
    parameters: JSON.parse(parameters) as object,
  },
});

const formatOf = (schema: string): Record<string, unknown> => ({
  type: 'json_schema',
  json_schema: { name: 'answer', schema: JSON.parse(schema) as object },
});
