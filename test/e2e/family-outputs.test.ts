/**
 * Models that write what they are told to, through the whole service: what a family writes reaches the client as thinking,
 * words and calls, streamed and not. The tokens are bytes, so every mark arrives in pieces.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { setParams } from '../../src/store/install/changes.ts';
import { importFile } from '../../src/store/install/import.ts';
import { openRegistry } from '../../src/store/registry/registry.ts';
import { writeScriptedChat } from '../../tools/models/scripted-chat.ts';
import { endProcess, readyUrl, startHearth } from '../support/process/hearth.ts';
import { type FormatTemplate, template, type TemplateName } from '../support/templates.ts';

const THOUGHT = 'They ask <about> Oslo.';
const OSLO = ['get_weather', { city: 'Oslo' }] as const;
const ROME = ['get_weather', { city: 'Rome', days: 3 }] as const;

interface Case {
  readonly writes: string;
  readonly reasoning?: string;
  readonly text?: string;
  readonly calls?: readonly (readonly [string, object])[];
}

const CASES: readonly (readonly [FormatTemplate, Case])[] = [
  [
    'hermes',
    {
      writes:
        'Let me look.\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n</tool_call><tool_call>\n{"name": "get_weather", "arguments": {"city": "Rome", "days": 3}}\n</tool_call>',
      text: 'Let me look.',
      calls: [OSLO, ROME],
    },
  ],
  [
    'tagged',
    {
      writes: `${THOUGHT}\n</think>\n\n<tool_call>\n<function=get_weather>\n<parameter=city>\nRome\n</parameter>\n<parameter=days>\n3\n</parameter>\n</function>\n</tool_call>`,
      reasoning: THOUGHT,
      calls: [ROME],
    },
  ],
  [
    'sections',
    {
      writes:
        '<|calls_begin|><|call_begin|>functions.get_weather:0<|call_args|>{"city": "Oslo"}<|call_end|><|call_begin|>functions.get_weather:1<|call_args|>{"city": "Rome", "days": 3}<|call_end|><|calls_end|>',
      calls: [OSLO, ROME],
    },
  ],
  [
    'pythonic',
    { writes: "<|tool_call_start|>[get_weather(city='Rome', days=3)]<|tool_call_end|>", calls: [ROME] },
  ],
  [
    'quoted',
    {
      writes: `<|channel>thought\n${THOUGHT}\n<channel|><|tool_call>call:get_weather{city:<|"|>Rome<|"|>,days:3}<tool_call|>`,
      reasoning: THOUGHT,
      calls: [ROME],
    },
  ],
  [
    'harmony',
    {
      writes: `<|channel|>analysis<|message|>${THOUGHT}<|end|><|start|>assistant<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{"city": "Oslo"}`,
      reasoning: THOUGHT,
      calls: [OSLO],
    },
  ],
  [
    'harmony',
    {
      writes: `<|channel|>analysis<|message|>${THOUGHT}<|end|><|start|>assistant<|channel|>final<|message|>It is 7 °C.`,
      reasoning: THOUGHT,
      text: 'It is 7 °C.',
    },
  ],
  [
    'wrapped',
    {
      writes: `<|think|>${THOUGHT}<|end|><|begin|>assistant<|content|>It is 7 °C.`,
      reasoning: THOUGHT,
      text: 'It is 7 °C.',
    },
  ],
];

let folder: string;
let url: string;
let child: ReturnType<typeof startHearth>;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'hearth-families-'));
  const settings = {
    SVC_HOME: path.join(folder, 'svc'),
    SVC_PORT: '0',
    SVC_NUM_THREADS: '1',
    SVC_LOG_LEVEL: 'warn',
  };
  child = startHearth(['serve'], settings);
  url = await readyUrl(child);
});

afterAll(async () => {
  await endProcess(child);
  await rm(folder, { recursive: true, force: true });
});

describe.each(CASES.map(([name, each], index) => ({ name, each, id: `${name}-${index}` })))(
  '$id',
  ({ name, each, id }) => {
    it('reaches the client as thinking, words and calls, streamed and not', async () => {
      // The answer begins where the prompt ends, which a model with the same template and an empty script tells.
      await install(`${id}-empty`, name, '', 0);
      const { prompt_tokens: promptTokens } = (await (
        await ask(`${id}-empty`, {}, '?svc_dry_run=1')
      ).json()) as { prompt_tokens: number };
      await install(id, name, each.writes, promptTokens - 1);
      const { reasoning = '', text = '', calls = [] } = each;
      const wanted = { reasoning, text, calls: calls.map(([tool, args]) => [tool, args]) };
      const whole = (await (await ask(id)).json()) as { choices: { message: Message }[] };
      expect(heard(whole.choices[0]?.message ?? {})).toEqual(wanted);
      const events = (await (await ask(id, { stream: true })).text())
        .split('\n')
        .filter((line) => line.startsWith('data: {'));
      const deltas = events.map(
        (line) => (JSON.parse(line.slice(6)) as { choices: { delta: Message }[] }).choices[0]?.delta ?? {},
      );
      expect(heard(joined(deltas))).toEqual(wanted);
    });
  },
);

describe('a format in a file of the user', () => {
  it('is how the model is asked and read, also behind a template that knows no tools', async () => {
    const format = path.join(folder, 'format.json');
    const call = { before: ['@call ', { slot: 'name' }, ' '], after: [' @end'] };
    const tools = {
      name: 'mine',
      trigger: '@call',
      section: { open: '', between: '\n', close: '' },
      call,
      arguments: { kind: 'json', spacing: 'spaced' },
      atStart: false,
      several: true,
    };
    await writeFile(format, JSON.stringify({ tools, thinking: { open: '<hm>', close: '</hm>' } }));
    const writes = `<hm>${THOUGHT}</hm>I look.\n@call get_weather {"city": "Oslo"} @end`;
    await install('mine-empty', 'gemma', '', 0, format);
    const dry = (await (await ask('mine-empty', {}, '?svc_dry_run=1')).json()) as {
      prompt_tokens: number;
      rendered_prompt: string;
      tool_format: string;
    };
    expect(dry.tool_format).toBe('mine');
    expect(dry.rendered_prompt).toContain('get_weather');
    expect(dry.rendered_prompt).toContain('@call TOOL {"ARGUMENT": "VALUE"} @end');
    await install('mine', 'gemma', writes, dry.prompt_tokens - 1, format);
    const answer = (await (await ask('mine')).json()) as { choices: { message: Message }[] };
    const { choices } = answer;
    expect(heard(choices[0]?.message ?? {})).toEqual({
      reasoning: THOUGHT,
      text: 'I look.',
      calls: [[...OSLO]],
    });
  });
});

async function install(
  id: string,
  name: TemplateName,
  script: string,
  from: number,
  toolFormat?: string,
): Promise<void> {
  const file = path.join(folder, `${id}.gguf`);
  await writeScriptedChat(file, { chatTemplate: template(name), script, from });
  const registry = openRegistry({ home: path.join(folder, 'svc') });
  await importFile(registry, file, { id });
  if (toolFormat !== undefined) await setParams(registry, id, { toolFormat });
}

function ask(model: string, more: object = {}, query = ''): Promise<Response> {
  const parameters = {
    type: 'object',
    properties: { city: { type: 'string' }, days: { type: 'integer' } },
    required: ['city'],
  };
  return fetch(`${url}/v1/chat/completions${query}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      model,
      messages: [{ role: 'user', content: 'How is Oslo?' }],
      tools: [{ type: 'function', function: { name: 'get_weather', parameters } }],
      parallel_tool_calls: true,
      temperature: 0,
      max_tokens: 600,
      ...more,
    }),
  });
}

interface Message {
  readonly content?: string | null;
  readonly reasoning_content?: string;
  readonly tool_calls?: readonly {
    readonly index?: number;
    readonly function: { readonly name?: string; readonly arguments: string };
  }[];
}

function heard({ content, reasoning_content: reasoning = '', tool_calls: calls = [] }: Message) {
  return {
    reasoning,
    text: content ?? '',
    calls: calls.map(({ function: { name, arguments: json } }) => [name, JSON.parse(json) as unknown]),
  };
}

function joined(deltas: readonly Message[]): Message {
  const calls: { function: { name: string; arguments: string } }[] = [];
  for (const { index = 0, function: part } of deltas.flatMap((delta) => delta.tool_calls ?? [])) {
    const call = (calls[index] ??= { function: { name: '', arguments: '' } });
    call.function.name += part.name ?? '';
    call.function.arguments += part.arguments;
  }
  return {
    content: deltas.map(({ content }) => content ?? '').join(''),
    reasoning_content: deltas.map((delta) => delta.reasoning_content ?? '').join(''),
    tool_calls: calls,
  };
}
