/**
 * Models that write what they are told to, through the whole service: what a family writes reaches the client as thinking,
 * words and calls, streamed in pieces of several sizes and not. The templates are the makers' own; with HEARTH_CORPUS
 * (test/corpus/README.md says how) all of them, in pieces of more sizes.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ToolDefinition } from '../../src/contract/job.ts';
import { setParams } from '../../src/store/install/changes.ts';
import { importFile } from '../../src/store/install/import.ts';
import { openRegistry } from '../../src/store/registry/registry.ts';
import { type ScriptedChatOptions, writeScriptedChat } from '../../tools/models/scripted-chat.ts';
import { CORPUS_FOLDER, templates } from '../corpus/corpus.ts';
import { FAMILY_TOOLS, type FamilyOutput, OUTPUTS } from '../families/outputs.ts';
import { endProcess, readyUrl, startHearth } from '../support/process/hearth.ts';
import { type FormatTemplate, template } from '../support/templates.ts';

const THOUGHT = 'They ask <about> Oslo.';
const OSLO = ['get_weather', { city: 'Oslo' }] as const;
const ROME = ['get_weather', { city: 'Rome', days: 3 }] as const;

/** Families whose makers' templates are not committed here. */
const STAND_INS: readonly (FamilyOutput & { readonly of: FormatTemplate })[] = [
  {
    of: 'pythonic',
    output: "<|tool_call_start|>[get_weather(city='Rome', days=3)]<|tool_call_end|>",
    calls: [ROME],
  },
  {
    of: 'quoted',
    output: `<|channel>thought\n${THOUGHT}\n<channel|><|tool_call>call:get_weather{city:<|"|>Rome<|"|>,days:3}<tool_call|>`,
    reasoning: THOUGHT,
    calls: [ROME],
  },
  {
    of: 'wrapped',
    output: `<|think|>${THOUGHT}<|end|><|begin|>assistant<|content|>It is 7 °C.`,
    reasoning: THOUGHT,
    text: 'It is 7 °C.',
  },
];

/** Its template reads a variable that no client sends: the reference refuses every conversation too. */
const REFUSES_ALL = 'fireworks-ai-llama-3-firefunction-v2';

/** Families that write much as others here do, and are tried with the whole corpus only. */
const LIKE_OTHERS = new Set([
  'GLM-4.7-Flash',
  'MiMo-VL',
  'MiniMax-M1',
  'Qwen-QwQ-32B',
  'Qwen-Qwen2.5-7B-Instruct',
  'Qwen3-Coder',
  'deepseek-ai-DeepSeek-V3.2',
  'ibm-granite-granite-4.0',
  'ibm-granite-granite-4.1',
  'llama-cpp-deepseek-r1',
  'meetkai-functionary-medium-v3.1',
  'mistralai-Mistral-Nemo-Instruct-2407',
]);

const FAMILIES = [
  ...STAND_INS.map((output) => ({ name: output.of, source: template(output.of), outputs: [output] })),
  ...templates
    .filter(({ name }) => name !== REFUSES_ALL && (CORPUS_FOLDER !== null || !LIKE_OTHERS.has(name)))
    .map((each) => ({ ...each, outputs: outputsOf(each.name) }))
    .filter(({ outputs }) => outputs.length > 0),
];

/** All of a family with the corpus, else the one that tells most. */
function outputsOf(name: string): readonly FamilyOutput[] {
  const outputs = OUTPUTS.filter(({ of }) => of === name);
  if (CORPUS_FOLDER !== null) return outputs;
  const told = ({ reasoning, calls = [] }: FamilyOutput) => (reasoning === undefined ? 0 : 1) + calls.length;
  return outputs.toSorted((one, other) => told(other) - told(one)).slice(0, 1);
}

/** Bytes per token. */
const PIECES = CORPUS_FOLDER === null ? [1, 6] : [1, 2, 3, 5, 8, 13];

/** With the corpus, up to four outputs of a family in six sizes, each a stream of its own. */
const FAMILY_MS = CORPUS_FOLDER === null ? 60_000 : 600_000;

/** What the question is filled up to; every byte is a token, and the templates of some makers are long. */
const PROMPT_TOKENS = 3_584;
const LONG_PROMPT_TOKENS = 8_192;
const LONG_PROMPTS = /command-r7b|Devstral|GigaChat/;

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

describe('what a model of a family writes', () => {
  it.each(FAMILIES)(
    '$name',
    async ({ name, source, outputs }) => {
      const scripts = outputs.flatMap((output) => PIECES.map((pieceBytes) => ({ output, pieceBytes })));
      const lengths = await install(name, {
        chatTemplate: source,
        scripts: scripts.map(({ output, pieceBytes }) => ({ text: output.output, pieceBytes })),
        promptTokens: LONG_PROMPTS.test(name) ? LONG_PROMPT_TOKENS : PROMPT_TOKENS,
      });
      const called = outputs.flatMap(({ calls = [] }) => calls.map(([tool]) => tool));
      for (const [index, { output, pieceBytes }] of scripts.entries()) {
        const { reasoning = '', text = '', calls = [] } = output;
        const wanted = { reasoning, text, calls: calls.map(([tool, args]) => [tool, args] as const) };
        const asked = {
          model: idOf(name),
          length: lengths[index] ?? 0,
          called,
          ...(output.reasoning === undefined ? {} : { enable_thinking: true }),
        };
        const told = `${output.output} in pieces of ${pieceBytes}`;
        if (pieceBytes === 1) {
          expect(await answered(asked), told).toEqual({ ...wanted, cut: false });
          await checkCuts(asked, output.output, wanted);
        }
        expect(await streamed(asked), told).toEqual({ ...wanted, cut: false });
      }
      await rm(fileOf(name));
    },
    FAMILY_MS,
  );
});

describe('a format of the user', () => {
  it('is how the model is asked and read, also behind a template that knows no tools', async () => {
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
    const format = JSON.stringify({ tools, thinking: { open: '<hm>', close: '</hm>' } });
    const output = `<hm>${THOUGHT}</hm>I look.\n@call get_weather {"city": "Oslo"} @end`;
    const [length = 0] = await install(
      'mine',
      {
        chatTemplate: template('gemma'),
        scripts: [{ text: output, pieceBytes: 1 }],
        promptTokens: PROMPT_TOKENS,
      },
      format,
    );
    const dry = await dryRun({ model: 'mine' });
    expect(dry.tool_format).toBe('mine');
    expect(dry.rendered_prompt).toContain('get_weather');
    expect(dry.rendered_prompt).toContain('@call TOOL {"ARGUMENT": "VALUE"} @end');
    expect(await answered({ model: 'mine', length })).toEqual({
      reasoning: THOUGHT,
      text: 'I look.',
      calls: [[...OSLO]],
      cut: false,
    });
  });
});

interface Heard {
  readonly reasoning: string;
  readonly text: string;
  readonly calls: readonly (readonly [name: string | undefined, args: unknown])[];
}

/** Places at which each output is cut by the token limit. */
const LONGEST_MARK = 32;
const CUTS = CORPUS_FOLDER === null ? 5 : 12;

/** An answer that the limit cuts says so, and has the beginning of the whole one: no mark, and no part of a call. */
async function checkCuts(asked: Asked, output: string, whole: Heard): Promise<void> {
  const last = Buffer.byteLength(output) - 1;
  // A smaller limit would leave the thought less than it takes, and the model would write something else.
  const thought = output.slice(0, output.indexOf(whole.reasoning) + whole.reasoning.length);
  const first = whole.reasoning === '' ? 1 : Math.ceil((Buffer.byteLength(thought) + LONGEST_MARK) / 0.75);
  if (first >= last) return;
  for (let cut = 1; cut <= CUTS; cut += 1) {
    const max_tokens = first + Math.floor((cut * (last - first)) / CUTS);
    const {
      reasoning,
      text,
      calls,
      cut: isCut,
    } = await (cut % 2 === 0 ? answered : streamed)({
      ...asked,
      max_tokens,
    });
    const told = `${output} cut at ${max_tokens}: ${text}`;
    expect(whole.reasoning.startsWith(reasoning), told).toBe(true);
    expect(whole.text.startsWith(text.trimEnd()), told).toBe(true);
    expect(calls, told).toEqual(whole.calls.slice(0, calls.length));
    // What follows the last byte of a call may be optional.
    if (calls.length < Math.max(1, whole.calls.length)) expect(isCut, told).toBe(true);
  }
}

const idOf = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');

const fileOf = (name: string): string => path.join(folder, `${idOf(name)}.gguf`);

/** Returns the length in tokens of the prompt that each script answers. */
async function install(
  name: string,
  options: ScriptedChatOptions,
  toolFormat?: string,
): Promise<readonly number[]> {
  const id = idOf(name);
  const file = fileOf(name);
  const lengths = await writeScriptedChat(file, options);
  const registry = openRegistry({ home: path.join(folder, 'svc') });
  await importFile(registry, file, { id });
  if (toolFormat !== undefined) await setParams(registry, id, { toolFormat });
  return lengths;
}

interface Asked {
  readonly model: string;
  /** Tokens that the prompt must have: the question is filled up with letters. */
  readonly length?: number;
  /** Further tools beside the first. */
  readonly called?: readonly string[];
  readonly enable_thinking?: boolean;
  readonly max_tokens?: number;
}

interface DryRun {
  readonly prompt_tokens: number;
  readonly rendered_prompt: string;
  readonly tool_format: string;
}

async function dryRun(asked: Asked): Promise<DryRun> {
  const answer = await ask(asked, { query: '?svc_dry_run=1' });
  expect(answer.status, await answer.clone().text()).toBe(200);
  return (await answer.json()) as DryRun;
}

async function answered(asked: Asked) {
  const answer = await ask(asked, { filler: await fillerOf(asked) });
  expect(answer.status, await answer.clone().text()).toBe(200);
  const { choices, usage } = (await answer.json()) as {
    choices: { message: Message; svc_finish_reason: string }[];
    usage: { prompt_tokens: number };
  };
  expect(usage.prompt_tokens).toBe(asked.length);
  return { ...heard(choices[0]?.message ?? {}), cut: choices[0]?.svc_finish_reason === 'length' };
}

async function streamed(asked: Asked) {
  const answer = await ask(asked, { filler: await fillerOf(asked), stream: true });
  const events = (await answer.text()).split('\n').filter((line) => line.startsWith('data: {'));
  const choices = events.map(
    (line) =>
      (JSON.parse(line.slice(6)) as { choices: { delta: Message; svc_finish_reason?: string }[] }).choices[0],
  );
  const deltas = choices.map((choice) => choice?.delta ?? {});
  return { ...heard(joined(deltas)), cut: choices.at(-1)?.svc_finish_reason === 'length' };
}

async function fillerOf(asked: Asked): Promise<string> {
  const { prompt_tokens: unfilled, rendered_prompt: prompt } = await dryRun(asked);
  for (const { name } of toolsOf(asked)) expect(prompt, 'the prompt tells of its tools').toContain(name);
  const missing = (asked.length ?? 0) - unfilled;
  expect(missing, 'letters that the question lacks').toBeGreaterThanOrEqual(0);
  return 'a'.repeat(missing);
}

interface How {
  readonly query?: string;
  readonly filler?: string;
  readonly stream?: boolean;
}

function ask(asked: Asked, { query = '', filler = '', stream = false }: How): Promise<Response> {
  const { model, enable_thinking, max_tokens = 800 } = asked;
  return fetch(`${url}/v1/chat/completions${query}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      model,
      enable_thinking,
      stream,
      messages: [{ role: 'user', content: `How is Oslo?${filler}` }],
      tools: toolsOf(asked).map((tool) => ({ type: 'function', function: tool })),
      parallel_tool_calls: true,
      temperature: 0,
      max_tokens,
    }),
  });
}

function toolsOf({ called = [] }: Asked): readonly ToolDefinition[] {
  return FAMILY_TOOLS.filter(({ name }, index) => index === 0 || called.includes(name));
}

interface Message {
  readonly content?: string | null;
  readonly reasoning_content?: string;
  readonly tool_calls?: readonly {
    readonly index?: number;
    readonly function: { readonly name?: string; readonly arguments: string };
  }[];
}

function heard({ content, reasoning_content: reasoning = '', tool_calls: calls = [] }: Message): Heard {
  return {
    reasoning,
    text: content ?? '',
    calls: calls.map(
      ({ function: { name, arguments: json } }) => [name, JSON.parse(json) as unknown] as const,
    ),
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
