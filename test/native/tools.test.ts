/** Tools and thinking on llama.cpp, with a model without sense: only the grammar gives its answers a shape. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeTinyChat } from '../../tools/models/tiny-chat.ts';
import type { GenerateJob, ToolDefinition } from '../../src/contract/job.ts';
import { FORMAT_PATTERNS } from '../../packages/schema-grammar/src/string-formats.ts';
import { seeded } from '../../packages/schema-grammar/test/grammar-walk.ts';
import { randomTools } from '../support/random/random-tools.ts';
import { type TemplateName, template } from '../support/templates.ts';
import { type Answer, bootWorker, type TestWorker } from '../support/engine/worker-harness.ts';

const CASES = process.env['SVC_LONG_TESTS'] === '1' ? 300 : 60;
const formats = Object.fromEntries(
  Object.entries(FORMAT_PATTERNS).map(([name, source]) => [name, new RegExp(source)]),
);
const ajv = new Ajv2020({ strict: false, formats, meta: false, validateSchema: false });

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'hearth-tools-'));
});

afterAll(async () => {
  for (const loaded of workers.values()) await (await loaded).worker.end();
  await rm(folder, { recursive: true });
});

interface Loaded {
  readonly worker: TestWorker;
  readonly toolFormat: string;
}

const workers = new Map<string, Promise<Loaded>>();

/** One worker per template, started when a test first needs it. */
async function withModel(
  name: TemplateName | null,
  run: (worker: TestWorker, toolFormat: string) => Promise<void>,
): Promise<void> {
  const key = name ?? 'plain';
  const loading = workers.get(key) ?? load(name, path.join(folder, `${key}.gguf`));
  workers.set(key, loading);
  const { worker, toolFormat } = await loading;
  await run(worker, toolFormat);
}

async function load(name: TemplateName | null, model: string): Promise<Loaded> {
  const chatTemplate = name === null ? {} : { chatTemplate: template(name) };
  await writeTinyChat(model, { ...chatTemplate, contextLength: 4096 });
  const worker = await bootWorker();
  await worker.load({ path: model, numCtx: 4096, parallel: 8 });
  const { toolFormat } = await worker.explain({});
  return { worker, toolFormat };
}

const city: ToolDefinition = {
  name: 'get_weather',
  description: 'Weather of a city.',
  parameters: {
    type: 'object',
    properties: {
      city: { type: 'string', maxLength: 12 },
      days: { type: 'integer', minimum: 1, maximum: 9 },
    },
    required: ['city'],
  },
};
const clock: ToolDefinition = {
  name: 'get_time',
  description: '',
  parameters: { type: 'object', properties: {} },
};

describe('the envelope', () => {
  it(`makes a valid call of ${CASES} random tool sets`, () =>
    withModel('last-message', async (worker, toolFormat) => {
      expect(toolFormat).toBe('envelope');
      const random = seeded(31);
      const sets = Array.from({ length: CASES }, () => randomTools(random, { unbounded: false }));
      for (let start = 0; start < sets.length; start += 8) {
        const group = sets.slice(start, start + 8);
        await Promise.all(
          group.map(async (tools, offset) => {
            const answer = await worker.generate({
              tools,
              toolChoice: { mode: 'required' },
              sampling: { temperature: 1, seed: start + offset },
              maxTokens: null,
            });
            expectValidCall(answer, tools);
          }),
        );
      }
    }));

  it('answers in words when it chooses to, without the envelope around them', () =>
    withModel(null, async (worker) => {
      const answers = await Promise.all(
        [1, 2, 3, 4, 5, 6].map((seed) =>
          worker.generate({
            tools: [city, clock],
            toolChoice: { mode: 'auto' },
            sampling: { temperature: 1, seed },
            maxTokens: 200,
          }),
        ),
      );
      expect(answers.filter(({ done }) => done.finishReason !== 'tool_calls')).not.toEqual([]);
      for (const answer of answers) {
        expect(answer.text).not.toContain('svc_tool_envelope');
        if (answer.done.finishReason === 'tool_calls') expectValidCall(answer, [city, clock]);
      }
    }));

  it('is written into the system turn byte for byte', () =>
    withModel(null, async (worker) => {
      const { renderedPrompt, toolFormat } = await worker.explain(
        conversation({ tools: [city, clock], toolChoice: { mode: 'auto' } }),
      );
      expect(toolFormat).toBe('envelope');
      expect(renderedPrompt).toBe(
        [
          '<|im_start|>system',
          'Be brief.',
          '',
          '# Tools',
          'You may call one tool. Tools, one JSON object per line:',
          '{"name":"get_weather","description":"Weather of a city.","parameters":{"type":"object","properties":{"city":{"type":"string","maxLength":12},"days":{"type":"integer","minimum":1,"maximum":9}},"required":["city"]}}',
          '{"name":"get_time","description":"","parameters":{"type":"object","properties":{}}}',
          'Answer with exactly one JSON object and nothing else: {"svc_tool_envelope":1,"call":{"name":"<tool>","arguments":{...}}} to call a tool, or {"svc_tool_envelope":1,"text":"<answer>"} to answer in words.<|im_end|>',
          '<|im_start|>user',
          'How is Oslo?<|im_end|>',
          '<|im_start|>assistant',
          '{"svc_tool_envelope":1,"call":{"name":"get_weather","arguments":{"city":"Oslo"}}}<|im_end|>',
          '<|im_start|>tool',
          '{"temp": 3}<|im_end|>',
          '<|im_start|>assistant',
          '',
        ].join('\n'),
      );
    }));

  it('is left out when no tool may be called', () =>
    withModel(null, async (worker) => {
      const { renderedPrompt } = await worker.explain(
        conversation({ tools: [city], toolChoice: { mode: 'none' } }),
      );
      expect(renderedPrompt).not.toContain('# Tools');
      expect(renderedPrompt).toContain('<|im_start|>system\nBe brief.<|im_end|>');
    }));

  it('tells results as words of the user where the template knows no tool role', () =>
    withModel('gemma', async (worker) => {
      const { renderedPrompt } = await worker.explain(
        conversation({ tools: [clock], toolChoice: { mode: 'auto' } }),
      );
      expect(renderedPrompt).toContain('<start_of_turn>user\n{"temp": 3}<end_of_turn>');
    }));
});

describe.each([
  ['hermes', 'json <tool_call>'],
  ['llama3-json', 'json {"name":'],
  ['mistral', 'json [TOOL_CALLS]'],
  ['phi4', 'json <|tool_call|>'],
] as const)('the native format of %s', (name, format) => {
  it('is rendered by the template, forced by the grammar and read back', () =>
    withModel(name, async (worker, toolFormat) => {
      expect(toolFormat).toBe(format);
      const { renderedPrompt } = await worker.explain(
        conversation({ tools: [city], toolChoice: { mode: 'auto' } }),
      );
      expect(renderedPrompt).not.toContain('svc_tool_envelope');
      expect(renderedPrompt).toContain('Weather of a city.');
      expect(renderedPrompt).toMatch(
        /"name": ?"get_weather", ?"(arguments|parameters)": ?\{"city": ?"Oslo"\}/,
      );
      for (const seed of [1, 2, 3]) {
        const sampling = { temperature: 1, seed };
        const required = await worker.generate({
          tools: [city, clock],
          toolChoice: { mode: 'required' },
          sampling,
          maxTokens: 400,
        });
        expectValidCall(required, [city, clock]);
        const named = await worker.generate({
          tools: [city, clock],
          toolChoice: { mode: 'named', name: 'get_time' },
          sampling,
          maxTokens: 400,
        });
        expectValidCall(named, [clock]);
        const auto = await worker.generate({
          tools: [city],
          toolChoice: { mode: 'auto' },
          sampling,
          maxTokens: 60,
        });
        if (auto.done.finishReason === 'tool_calls') expectValidCall(auto, [city]);
        else expect(auto.events.some(({ type }) => type === 'tool_call')).toBe(false);
      }
    }));
});

describe('thinking', () => {
  const schema = {
    type: 'object',
    properties: { ok: { type: 'boolean' } },
    required: ['ok'],
    additionalProperties: false,
  };

  it('that is always open ends at its budget, and the answer keeps its shape', () =>
    withModel('always-thinking', async (worker) => {
      const prompt = { kind: 'chat' as const, turns: [{ role: 'user' as const, content: 'think forever' }] };
      const answer = await worker.generate({
        prompt,
        format: { kind: 'json_schema', schema },
        reasoning: { budgetTokens: 12 },
        maxTokens: 120,
        sampling: { temperature: 1, seed: 4 },
      });
      expect(JSON.parse(answer.text)).toHaveProperty('ok');
      expect(reasoningOf(answer)).not.toBe('');
      expect(reasoningOf(answer)).not.toContain('</think>');
      expect(answer.done.usage.reasoningTokens).toBeGreaterThanOrEqual(12);
      expect(answer.done.usage.reasoningTokens).toBeLessThan(40);
    }));

  it('leaves room for the answer when no budget is named', () =>
    withModel('always-thinking', async (worker) => {
      const prompt = { kind: 'chat' as const, turns: [{ role: 'user' as const, content: 'think forever' }] };
      const answer = await worker.generate({
        prompt,
        format: { kind: 'json_schema', schema },
        maxTokens: 160,
        sampling: { temperature: 1, seed: 4 },
      });
      expect(JSON.parse(answer.text)).toHaveProperty('ok');
      expect(answer.done.finishReason).toBe('stop');
    }));

  it('is switched off by the template, or by closing it at once', async () => {
    await withModel('thinking', async (worker) => {
      const { renderedPrompt } = await worker.explain({ reasoning: { enabled: false } });
      expect(renderedPrompt.endsWith('<think>\n\n</think>\n\n')).toBe(true);
    });
    await withModel('always-thinking', async (worker) => {
      const { renderedPrompt } = await worker.explain({ reasoning: { enabled: false } });
      expect(renderedPrompt.endsWith('<think>\n\n</think>\n\n')).toBe(true);
    });
  });

  it('does not stand in the way of a tool call', () =>
    withModel('always-thinking', async (worker) => {
      const answer = await worker.generate({
        tools: [city],
        toolChoice: { mode: 'required' },
        reasoning: { budgetTokens: 8 },
        maxTokens: 300,
        sampling: { temperature: 1, seed: 2 },
      });
      expectValidCall(answer, [city]);
    }));
});

describe('a grammar of a client', () => {
  it('shapes the answer', () =>
    withModel(null, async (worker) => {
      const gbnf = 'root ::= item ("-" item){2}\nitem ::= [a-f]{2}\n';
      const answer = await worker.generate({ format: { kind: 'grammar', gbnf }, maxTokens: 40 });
      expect(answer.text).toMatch(/^[a-f]{2}(-[a-f]{2}){2}$/);
    }));

  it.each(['né😀日本👩‍👩‍👧', '日é'])(
    'never makes text of half a character of %s, and reports every token',
    (word) =>
      withModel(null, async (worker) => {
        const gbnf = `root ::= ${JSON.stringify(word)}`;
        const bytes = [...Buffer.from(word, 'utf8')];
        let cutInside = 0;
        for (let maxTokens = 1; maxTokens <= bytes.length; maxTokens += 1) {
          const answer = await worker.generate({
            format: { kind: 'grammar', gbnf },
            maxTokens,
            topLogprobs: 1,
          });
          expect([...word].slice(0, [...answer.text].length).join(''), `${maxTokens} tokens`).toBe(
            answer.text,
          );
          const tokens = answer.events.flatMap((event) =>
            event.type === 'text' ? (event.tokens ?? []) : [],
          );
          const told = tokens.flatMap(({ chosen }) => chosen.bytes);
          expect(told).toEqual(bytes.slice(0, told.length));
          if (answer.done.finishReason === 'length')
            expect(tokens).toHaveLength(answer.done.usage.completionTokens);
          if (told.length > Buffer.byteLength(answer.text)) cutInside += 1;
        }
        expect(cutInside).toBeGreaterThan(0);
      }),
  );

  it('that cannot be used fails its own job only', () =>
    withModel(null, async (worker) => {
      const bad = worker.generate({ format: { kind: 'grammar', gbnf: 'root ::= root "a" | "b"' } });
      await expect(bad).rejects.toMatchObject({
        code: 'invalid_request',
        message: expect.stringContaining('left recursion'),
      });
      const { done } = await worker.generate({ maxTokens: 3, prompt: { kind: 'text', text: 'forever' } });
      expect(done).toMatchObject({ finishReason: 'length', usage: { completionTokens: 3 } });
    }));
});

function conversation(fields: Partial<GenerateJob>): Partial<GenerateJob> {
  return {
    prompt: {
      kind: 'chat',
      turns: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'How is Oslo?' },
        {
          role: 'assistant',
          content: '',
          toolCalls: [{ id: 'call_1', name: 'get_weather', argumentsJson: '{"city": "Oslo"}' }],
        },
        { role: 'tool', content: '{"temp": 3}', toolCallId: 'call_1', name: 'get_weather' },
      ],
    },
    ...fields,
  };
}

function expectValidCall(answer: Answer, tools: readonly ToolDefinition[]): void {
  expect(answer.done.finishReason, JSON.stringify(answer.events)).toBe('tool_calls');
  const calls = answer.events.filter((event) => event.type === 'tool_call');
  expect(calls).toHaveLength(1);
  const json = answer.events.map((event) => (event.type === 'tool_arguments' ? event.text : '')).join('');
  const tool = tools.find(({ name }) => name === calls[0]?.name);
  const valid = ajv.compile(tool?.parameters ?? { not: {} });
  expect(valid(JSON.parse(json)), `${JSON.stringify(tool)} → ${json}`).toBe(true);
}

function reasoningOf(answer: Answer): string {
  return answer.events.map((event) => (event.type === 'reasoning' ? event.text : '')).join('');
}
