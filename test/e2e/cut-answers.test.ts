/**
 * Calls that the token limit cuts, at every token and in every dialect: the answer is a 200 that says so, with no part of a
 * call and no mark of its format. The weights are the built-in model's, the templates those of other makers.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { setParams } from '../../src/store/install/changes.ts';
import { importFile } from '../../src/store/install/import.ts';
import { openRegistry } from '../../src/store/registry/registry.ts';
import { endProcess, readyUrl, startHearth } from '../support/process/hearth.ts';

const WEIGHTS = fileURLToPath(new URL('../../models/hearth-mini/model.gguf', import.meta.url));
const templateFile = (name: string): string =>
  fileURLToPath(new URL(`../corpus/templates/${name}.jinja`, import.meta.url));

/** JSON between tags, tags, tags with keys, channels, a list, a name before a mark, and the envelope. */
const TEMPLATES = [
  'Qwen-Qwen3-0.6B',
  'Qwen3-Coder',
  'GLM-4.6',
  'openai-gpt-oss-120b',
  'mistralai-Mistral-Nemo-Instruct-2407',
  'mistralai-Ministral-3-14B-Reasoning-2512',
  'microsoft-Phi-3.5-mini-instruct',
];
const idOf = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');

const parameters = {
  type: 'object',
  properties: { mode: { enum: ['edit', 'create'] } },
  required: ['mode'],
  additionalProperties: false,
};
const named = { name: 'do-it', description: 'd' };
const MODES = ['edit', 'create'];

let folder: string;
let url: string;
let child: ReturnType<typeof startHearth>;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'hearth-cuts-'));
  const home = path.join(folder, 'svc');
  child = startHearth(['serve'], {
    SVC_HOME: home,
    SVC_PORT: '0',
    SVC_NUM_THREADS: '1',
    SVC_LOG_LEVEL: 'warn',
  });
  url = await readyUrl(child);
  const registry = openRegistry({ home });
  for (const name of TEMPLATES) {
    await importFile(registry, WEIGHTS, { id: idOf(name) });
    await setParams(registry, idOf(name), { template: await readFile(templateFile(name), 'utf8') });
  }
}, 120_000);

afterAll(async () => {
  await endProcess(child);
  await rm(folder, { recursive: true, force: true });
});

interface Heard {
  readonly text: string;
  readonly inputs: readonly unknown[];
  /** How it ended, in the words of the dialect. */
  readonly end: string;
}

interface Dialect {
  readonly name: string;
  readonly cut: string;
  readonly called: string;
  readonly ask: (model: string, maxTokens: number) => Promise<Heard>;
}

interface ChatMessage {
  readonly content?: string | null;
  readonly tool_calls?: readonly { readonly function: { readonly arguments?: string } }[];
}

const messages = [{ role: 'user', content: 'do it' }];
const tools = [{ type: 'function', function: { ...named, parameters } }];
const sampled = { temperature: 0, seed: 1 };

const DIALECTS: readonly Dialect[] = [
  {
    name: 'chat completions',
    cut: 'length',
    called: 'tool_calls',
    async ask(model, max_tokens) {
      const choices = { tools, tool_choice: 'required' };
      const body = await post('/v1/chat/completions', {
        ...sampled,
        ...choices,
        model,
        messages,
        max_tokens,
      });
      const { message, finish_reason: end } = (
        body as { choices: [{ message: ChatMessage; finish_reason: string }] }
      ).choices[0];
      return { text: message.content ?? '', inputs: inputsOf(message), end };
    },
  },
  {
    name: 'chat completions, streamed',
    cut: 'length',
    called: 'tool_calls',
    async ask(model, max_tokens) {
      const tool_choice = { type: 'function', function: { name: named.name } };
      const asked = { ...sampled, tools, tool_choice, model, messages, max_tokens, stream: true };
      const lines = ((await post('/v1/chat/completions', asked)) as string).split('\n');
      expect(lines).toContain('data: [DONE]');
      const choices = lines
        .filter((line) => line.startsWith('data: {'))
        .map((line) => (JSON.parse(line.slice(6)) as { choices: [Delta?] }).choices[0]);
      const json = choices.flatMap((choice) => choice?.delta.tool_calls ?? []);
      const whole = json.map((call) => call.function.arguments ?? '').join('');
      return {
        text: choices.map((choice) => choice?.delta.content ?? '').join(''),
        inputs: json.length === 0 ? [] : [JSON.parse(whole)],
        end: choices.findLast((choice) => choice?.svc_finish_reason)?.svc_finish_reason ?? '',
      };
    },
  },
  {
    name: 'messages',
    cut: 'max_tokens',
    called: 'tool_use',
    async ask(model, max_tokens) {
      const definition = { ...named, input_schema: parameters };
      const body = (await post('/v1/messages', {
        temperature: 0,
        model,
        messages,
        max_tokens,
        tools: [definition],
        tool_choice: { type: 'any' },
      })) as { content: { type: string; text?: string; input?: unknown }[]; stop_reason: string };
      return {
        text: body.content.map(({ text }) => text ?? '').join(''),
        inputs: body.content.filter(({ type }) => type === 'tool_use').map(({ input }) => input),
        end: body.stop_reason,
      };
    },
  },
  {
    name: 'responses',
    cut: 'incomplete',
    called: 'completed',
    async ask(model, max_output_tokens) {
      const body = (await post('/v1/responses', {
        temperature: 0,
        model,
        max_output_tokens,
        input: 'do it',
        tools: [{ type: 'function', ...named, parameters }],
        tool_choice: 'required',
      })) as {
        output: { type: string; content?: { text: string }[]; arguments?: string }[];
        status: string;
      };
      const said = body.output.filter(({ type }) => type === 'message');
      return {
        text: said
          .flatMap(({ content }) => content ?? [])
          .map(({ text }) => text)
          .join(''),
        inputs: body.output.flatMap((item) =>
          item.type === 'function_call' ? [JSON.parse(item.arguments ?? '') as unknown] : [],
        ),
        end: body.status,
      };
    },
  },
];

interface Delta {
  readonly delta: ChatMessage;
  readonly svc_finish_reason?: string | null;
}

describe.each(TEMPLATES)('a required call in the syntax of %s', (template) => {
  it.each(DIALECTS)('is whole or none, wherever it is cut: $name', async (dialect) => {
    for (const maxTokens of [...SMALL, 40, 60, 90, 160]) {
      const { text, inputs, end } = await dialect.ask(idOf(template), maxTokens);
      const told = `${maxTokens} tokens: ${text} ${JSON.stringify(inputs)}`;
      expect(text, told).toBe('');
      // Behind a whole call, another may be cut.
      expect(inputs.length === 0 ? [dialect.cut] : [dialect.called, dialect.cut], told).toContain(end);
      for (const input of inputs) expect(MODES, told).toContain((input as { mode: string }).mode);
      if (end === dialect.called) whole.add(dialect.name);
    }
  });
});

it('calls that nothing cuts come in every dialect', () => {
  expect([...whole].toSorted()).toEqual(DIALECTS.map(({ name }) => name).toSorted());
});

const whole = new Set<string>();

/** Most calls are written within these; each dialect tries its share of them. */
const SMALL = Array.from({ length: 16 }, (_, index) => 2 * index + 2);

const inputsOf = ({ tool_calls: calls = [] }: ChatMessage): unknown[] =>
  calls.map((call) => JSON.parse(call.function.arguments ?? '') as unknown);

async function post(route: string, body: object): Promise<unknown> {
  const answer = await fetch(url + route, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  expect(answer.status, text).toBe(200);
  return 'stream' in body ? text : JSON.parse(text);
}
