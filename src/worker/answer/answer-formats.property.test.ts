/**
 * Grammar and reader of every tool format against each other: whatever the grammar lets a model write, the reader
 * takes apart into thinking, text and a call that satisfies its schema, however the text is cut into pieces.
 */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import type { AnswerFormat, ToolChoice, ToolDefinition } from '../../contract/job.ts';
import { answerGrammar, type ThinkingPlace } from './answer-grammar.ts';
import { AnswerReader } from './answer-reader.ts';
import { EnvelopeBody, textBody } from './body-readers.ts';
import { FormatBody } from './calls/format-body.ts';
import type { ModelFormat } from '../../../packages/chat-templates/src/tool-format/tool-format.ts';
import { writeCalls } from '../../../packages/chat-templates/src/tool-format/write-calls.ts';
import { CALL_BETWEEN, CALL_CLOSE, CALL_OPEN } from '../prompt/envelope.ts';
import { FORMAT_PATTERNS } from '../../../packages/schema-grammar/src/string-formats.ts';
import type { AnswerPart } from './answer.ts';
import { acceptor } from '../../../packages/schema-grammar/test/grammar-accept.ts';
import { type Random, seeded, textWriter } from '../../../packages/schema-grammar/test/grammar-walk.ts';
import { randomTools } from '../../../test/support/random/random-tools.ts';
import { formatOfTemplate } from '../../../test/support/formats.ts';
import { ODD_SCHEMAS, READABLE_SCHEMAS } from '../../../test/support/odd-schemas.ts';
import { FORMAT_TEMPLATES } from '../../../test/support/templates.ts';

const ROUNDS = 60;
const formats = Object.fromEntries(
  Object.entries(FORMAT_PATTERNS).map(([name, source]) => [name, new RegExp(source)]),
);
const ajv = new Ajv2020({ strict: false, formats, meta: false, validateSchema: false });
const think = { open: '<think>', close: '</think>' };
const places: ThinkingPlace[] = [
  { at: 'nowhere' },
  { at: 'choice', marks: think },
  { at: 'open', marks: think },
];

const PLAIN = {
  format: { kind: 'text' },
  tools: [],
  choice: { mode: 'auto' },
  maxCalls: 1,
  inContent: false,
  thinking: { at: 'nowhere' },
} as const;

const anyTool: ToolDefinition = {
  name: 'f',
  description: '',
  parameters: { type: 'object', properties: { a: {} } },
};

const envelope = formatOfTemplate(null);

const formatsOfModels: [string, ModelFormat][] = [
  ['envelope', envelope],
  ...FORMAT_TEMPLATES.map((name): [string, ModelFormat] => [name, formatOfTemplate(name)]),
];

describe.each(formatsOfModels)('the %s format', (name, model) => {
  const isExact = model.tools === null || model.tools.arguments.kind === 'json';
  const namesKeysTwice =
    model.tools?.arguments.kind === 'tagged' &&
    model.tools.arguments.afterValue.some((word) => typeof word !== 'string');

  it('is read from its template', () => {
    expect(model.tools === null).toBe(name === 'envelope');
  });

  it('reads back every call that its grammar allows', () => {
    const random = seeded(5);
    for (let round = 0; round < ROUNDS; round += 1) {
      const tools = randomTools(random, { unbounded: true });
      const choice: ToolChoice = random() < 0.5 ? { mode: 'required' } : { mode: 'auto' };
      const thinking = places[round % places.length] as ThinkingPlace;
      const gbnf = answerGrammar({ ...PLAIN, tools, choice, model, thinking }) ?? '';
      const write = textWriter(gbnf, random);
      for (let sample = 0; sample < 4; sample += 1) {
        const written = write();
        const answer = read(written, { model, tools, thinking, random });
        if (!answer.called) {
          expect(choice.mode, written).toBe('auto');
          expect(answer.calls, written).toEqual([]);
          continue;
        }
        const [call] = answer.calls;
        const tool = tools.find((candidate) => candidate.name === call?.name);
        expect(tool, written).toBeDefined();
        const value: unknown = JSON.parse(call?.json ?? '');
        // Text between tags is wider than its schema; what is too wide is refused when the call is whole.
        if (!isExact) {
          expect(Object.keys(value as object), written).toEqual(expect.arrayContaining(required(tool)));
        } else {
          expect(ajv.validate(tool?.parameters ?? {}, value), `${written}\n${JSON.stringify(tool)}`).toBe(
            true,
          );
        }
      }
    }
  });

  it('reads text before a call as text, and the call as a call', () => {
    if (model.tools === null || model.tools.atStart || model.channels !== null) return;
    const random = seeded(17);
    for (let round = 0; round < 40; round += 1) {
      const written = `Let me <look> [that up].\n${callText(model, [{ a: '}]"' }])}`;
      const answer = read(written, { model, tools: [anyTool], random });
      expect(answer).toMatchObject({ text: 'Let me <look> [that up].', reasoning: '', called: true });
      expect(answer.calls.map(({ json }) => JSON.parse(json) as unknown)).toEqual([{ a: '}]"' }]);
    }
  });

  it('writes and reads what a schema allows of which a part cannot be read', () => {
    const random = seeded(29);
    for (const { what, parameters, allowed } of [...ODD_SCHEMAS, ...READABLE_SCHEMAS]) {
      // Tags that name a key twice can hold declared keys only.
      if (namesKeysTwice && what.startsWith('arguments')) continue;
      const isList = typeof parameters !== 'object' || Array.isArray(parameters);
      const schema = isList ? { allOf: [parameters] } : parameters;
      const tool = { ...anyTool, parameters: { ...schema, type: 'object' } };
      const written = callText(model, [allowed]);
      const gbnf = answerGrammar({ ...PLAIN, tools: [tool], choice: { mode: 'required' }, model }) ?? '';
      expect(acceptor(gbnf)(written), `${what}: ${written}`).toBe(true);
      const { calls } = read(written, { model, tools: [tool], random });
      expect(
        calls.map(({ json }) => JSON.parse(json) as unknown),
        what,
      ).toEqual([allowed]);
    }
  });

  it('reads several calls where the model writes several, and the grammar allows them', () => {
    if (model.tools?.several !== true) return;
    const written = callText(model, [{ a: 1 }, { a: [true, null, { b: 'x' }] }, {}]);
    for (const mode of ['auto', 'required'] as const) {
      const gbnf = answerGrammar({ ...PLAIN, tools: [anyTool], choice: { mode }, model, maxCalls: 3 }) ?? '';
      expect(acceptor(gbnf)(written), written).toBe(true);
      const fewer = answerGrammar({ ...PLAIN, tools: [anyTool], choice: { mode }, model, maxCalls: 2 }) ?? '';
      expect(acceptor(fewer)(written), written).toBe(false);
    }
    const random = seeded(23);
    const answer = read(written, { model, tools: [anyTool], maxCalls: 3, random });
    expect(answer.text).toBe('');
    expect(answer.calls.map(({ json }) => JSON.parse(json) as unknown)).toEqual([
      { a: 1 },
      { a: [true, null, { b: 'x' }] },
      {},
    ]);
    expect(read(written, { model, tools: [anyTool], random }).calls).toHaveLength(1);
  });

  it('reads of an answer that was cut the beginning of the whole one, and no part of a call or of a mark', () => {
    const random = seeded(31);
    for (let round = 0; round < ROUNDS; round += 1) {
      const tools = randomTools(random, { unbounded: true });
      const choice: ToolChoice = random() < 0.5 ? { mode: 'required' } : { mode: 'auto' };
      const thinking = places[round % places.length] as ThinkingPlace;
      const maxCalls = 1 + (round % 3);
      const options = { model, tools, thinking, maxCalls, random };
      const gbnf = answerGrammar({ ...PLAIN, tools, choice, model, thinking, maxCalls }) ?? '';
      const written = textWriter(gbnf, random)();
      const whole = read(written, options);
      for (let sample = 0; sample < 12; sample += 1) {
        const beginning = written.slice(0, Math.floor(random() * written.length));
        const cut = read(beginning, { ...options, isCut: true });
        expect(whole.reasoning.startsWith(cut.reasoning.trimEnd()), beginning).toBe(true);
        expect(whole.text.startsWith(cut.text.trimEnd()), beginning).toBe(true);
        expect(cut.calls, beginning).toEqual(whole.calls.slice(0, cut.calls.length));
        expect(cut.called).toBe(cut.calls.length > 0);
        if (choice.mode === 'required') expect(cut.text, beginning).toBe('');
      }
    }
  });

  it('keeps a JSON answer valid beside tools', () => {
    const random = seeded(9);
    const schema = {
      type: 'object',
      properties: { 'a"b\\': { type: 'string' }, n: { type: 'integer' } },
      required: ['a"b\\'],
    };
    const format: AnswerFormat = { kind: 'json_schema', schema };
    const tools = [{ name: 'f', description: '', parameters: { type: 'object', properties: {} } }];
    const valid = ajv.compile(schema);
    for (const thinking of places) {
      const gbnf = answerGrammar({ ...PLAIN, format, tools, model, thinking }) ?? '';
      const write = textWriter(gbnf, random);
      for (let sample = 0; sample < 30; sample += 1) {
        const written = write();
        const answer = read(written, { model, tools, thinking, shaped: true, random });
        if (answer.called) expect(answer.calls, written).toEqual([{ name: 'f', json: '{}' }]);
        else expect(valid(JSON.parse(answer.text)), written).toBe(true);
      }
    }
  });
});

describe('a thinking model', () => {
  it('keeps its thinking out of a JSON answer', () => {
    const random = seeded(13);
    for (const thinking of places) {
      const gbnf =
        answerGrammar({
          ...PLAIN,
          format: { kind: 'json_object' },
          choice: { mode: 'none' },
          model: envelope,
          thinking,
        }) ?? '';
      const write = textWriter(gbnf, random);
      for (let sample = 0; sample < 60; sample += 1) {
        const written = write();
        const answer = read(written, { model: envelope, tools: [], thinking, shaped: true, random });
        expect(typeof JSON.parse(answer.text), written).toBe('object');
        expect(answer.reasoning).not.toContain('</think>');
      }
    }
  });
});

interface ReadAnswer {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly { readonly name: string; readonly json: string }[];
  readonly called: boolean;
}

interface ReadOptions {
  readonly model: ModelFormat;
  readonly tools: readonly ToolDefinition[];
  readonly thinking?: ThinkingPlace;
  readonly shaped?: boolean;
  readonly maxCalls?: number;
  readonly isCut?: boolean;
  readonly random: Random;
}

/** Reads a text in random pieces. */
function read(written: string, options: ReadOptions): ReadAnswer {
  const {
    model,
    tools,
    thinking = { at: 'nowhere' },
    shaped = false,
    maxCalls = 1,
    isCut = false,
    random,
  } = options;
  const native = new FormatBody({ format: model, tools, maxCalls, shaped });
  const plain = tools.length === 0 ? textBody(shaped) : new EnvelopeBody();
  const reader = new AnswerReader(thinking, model.tools === null ? plain : native);
  const parts: AnswerPart[] = [];
  const chars = [...written];
  while (chars.length > 0 && !reader.complete)
    parts.push(...reader.text(chars.splice(0, 1 + Math.floor(random() * 6)).join('')));
  parts.push(...reader.end(isCut));
  const joined = (type: string) =>
    parts.map((part) => (part.type === type && 'text' in part ? part.text : '')).join('');
  const calls: { name: string; json: string }[] = [];
  for (const part of parts) {
    const last = calls.at(-1);
    if (part.type === 'tool_call') calls.push({ name: part.name, json: '' });
    if (part.type === 'tool_arguments' && last !== undefined) last.json += part.text;
  }
  return { text: joined('text'), reasoning: joined('reasoning'), calls, called: reader.calledTool };
}

/** Calls of `f` as the model writes them. */
function callText({ tools, channels }: ModelFormat, values: readonly object[]): string {
  const calls = values.map((value, index) => ({ name: 'f', id: `callid00${index}`, arguments: value }));
  if (tools === null) {
    return calls
      .map((call) => `${CALL_OPEN}f${CALL_BETWEEN}${JSON.stringify(call.arguments)}${CALL_CLOSE}`)
      .join('');
  }
  if (channels === null) {
    return writeCalls(tools, calls)
      .map(({ text }) => text)
      .join('');
  }
  const header = (channels.calls[0] ?? []).map((word) => (typeof word === 'string' ? word : 'f')).join('');
  const messages = calls.map((call) => header + channels.message + JSON.stringify(call.arguments));
  return messages.join(
    channels.ends[0] === channels.start ? channels.start : `${channels.ends[0]}${channels.start}`,
  );
}

function required(tool: ToolDefinition | undefined): string[] {
  const names = tool?.parameters['required'];
  return Array.isArray(names) ? names.map(String) : [];
}
