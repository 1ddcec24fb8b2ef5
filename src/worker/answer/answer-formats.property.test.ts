/**
 * Grammar and reader of every tool format against each other: whatever the grammar lets a model write, the reader
 * takes apart into thinking, text and a call that satisfies its schema, however the text is cut into pieces.
 */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import type { AnswerFormat, ToolChoice } from '../../contract/job.ts';
import { answerGrammar, type ThinkingPlace } from './answer-grammar.ts';
import { AnswerReader } from './answer-reader.ts';
import { CALL_BETWEEN, CALL_OPEN } from '../prompt/envelope.ts';
import { EnvelopeBody, FamilyBody, textBody } from './body-readers.ts';
import { familyOfTemplate, type ToolFamily } from '../../lib/chat-template/tool-families.ts';
import { FORMAT_PATTERNS } from '../../lib/grammar/string-formats.ts';
import type { AnswerPart } from './answer.ts';
import { type Random, seeded, textWriter } from '../../../test/support/random/grammar-walk.ts';
import { randomTools } from '../../../test/support/random/random-tools.ts';
import { template } from '../../../test/support/templates.ts';

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

const families: [string, ToolFamily | null][] = [
  ['envelope', null],
  ['hermes', familyOfTemplate(template('hermes'))],
  ['llama3-json', familyOfTemplate(template('llama3-json'))],
  ['mistral', familyOfTemplate(template('mistral'))],
  ['mistral-args', familyOfTemplate(`${template('mistral')} [ARGS]`)],
  ['phi4', familyOfTemplate(template('phi4'))],
  ['command-r7b', familyOfTemplate('{{ tools }}<|START_ACTION|>')],
];

describe.each(families)('the %s format', (name, family) => {
  it('is recognised by its template', () => {
    expect(family?.name ?? 'envelope').toBe(name);
  });

  it('reads back every call that its grammar allows', () => {
    const random = seeded(5);
    for (let round = 0; round < ROUNDS; round += 1) {
      const tools = randomTools(random, { unbounded: true });
      const choice: ToolChoice = random() < 0.5 ? { mode: 'required' } : { mode: 'auto' };
      const thinking = places[round % places.length] as ThinkingPlace;
      const gbnf = answerGrammar({ format: { kind: 'text' }, tools, choice, family, thinking }) ?? '';
      const write = textWriter(gbnf, random);
      for (let sample = 0; sample < 4; sample += 1) {
        const written = write();
        const answer = read(written, family, thinking, false, random);
        if (!answer.called) {
          expect(choice.mode, written).toBe('auto');
          expect(answer.call, written).toBeNull();
          continue;
        }
        const tool = tools.find((candidate) => candidate.name === answer.call?.name);
        expect(tool, written).toBeDefined();
        const valid = ajv.compile(tool?.parameters ?? {});
        expect(valid(JSON.parse(answer.call?.json ?? '')), `${written}\n${JSON.stringify(tool)}`).toBe(true);
      }
    }
  });

  it('reads text before a call as text, and the call as a call', () => {
    if (family === null || family.atStart) return;
    const random = seeded(17);
    const call = `${family.open}${family.beforeName}f${family.beforeArguments}{"a":"}]"}${family.close}`;
    for (let round = 0; round < 40; round += 1) {
      const written = `Let me <look> [that up].\n${call}`;
      const answer = read(written, family, { at: 'nowhere' }, false, random);
      expect(answer).toEqual({
        text: 'Let me <look> [that up].',
        reasoning: '',
        call: { name: 'f', json: '{"a":"}]"}' },
        called: true,
      });
    }
  });

  it('does not take a call that was cut for a call', () => {
    const words = family ?? { open: CALL_OPEN, beforeName: '', beforeArguments: CALL_BETWEEN };
    const written = `${words.open}${words.beforeName}f${words.beforeArguments}{"a":1`;
    expect(read(written, family, { at: 'nowhere' }, false, seeded(1)).called).toBe(false);
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
      const gbnf = answerGrammar({ format, tools, choice: { mode: 'auto' }, family, thinking }) ?? '';
      const write = textWriter(gbnf, random);
      for (let sample = 0; sample < 30; sample += 1) {
        const written = write();
        const answer = read(written, family, thinking, true, random);
        if (answer.called) expect(answer.call).toEqual({ name: 'f', json: '{}' });
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
          format: { kind: 'json_object' },
          tools: [],
          choice: { mode: 'none' },
          family: null,
          thinking,
        }) ?? '';
      const write = textWriter(gbnf, random);
      for (let sample = 0; sample < 60; sample += 1) {
        const written = write();
        const answer = read(written, null, thinking, true, random, false);
        expect(typeof JSON.parse(answer.text), written).toBe('object');
        expect(answer.reasoning).not.toContain('</think>');
      }
    }
  });
});

interface ReadAnswer {
  readonly text: string;
  readonly reasoning: string;
  readonly call: { readonly name: string; readonly json: string } | null;
  readonly called: boolean;
}

/** Reads a text in random pieces. */
function read(
  written: string,
  family: ToolFamily | null,
  thinking: ThinkingPlace,
  shaped: boolean,
  random: Random,
  tools = true,
): ReadAnswer {
  const body = !tools
    ? textBody(shaped)
    : family === null
      ? new EnvelopeBody()
      : new FamilyBody(family, shaped);
  const reader = new AnswerReader(thinking, body);
  const parts: AnswerPart[] = [];
  const chars = [...written];
  while (chars.length > 0 && !reader.complete)
    parts.push(...reader.text(chars.splice(0, 1 + Math.floor(random() * 6)).join('')));
  parts.push(...reader.end());
  const joined = (type: string) =>
    parts.map((part) => (part.type === type && 'text' in part ? part.text : '')).join('');
  const [call] = parts.filter((part) => part.type === 'tool_call');
  return {
    text: joined('text'),
    reasoning: joined('reasoning'),
    call: call?.type === 'tool_call' ? { name: call.name, json: joined('tool_arguments') } : null,
    called: reader.calledTool,
  };
}
