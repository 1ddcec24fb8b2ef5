/**
 * What the models of each family write reaches the client as thinking, words and calls, however it is cut; and the
 * grammar that holds the model to its tools lets it write just that. The formats were derived from the makers' own
 * templates; with HEARTH_CORPUS (test/corpus/README.md says how) they are derived again and compared.
 */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { ModelFormat } from '../../packages/chat-templates/src/tool-format/tool-format.ts';
import type { AnswerPart } from '../../src/worker/answer/answer.ts';
import { answerGrammar, type ThinkingPlace } from '../../src/worker/answer/answer-grammar.ts';
import { AnswerReader } from '../../src/worker/answer/answer-reader.ts';
import { FormatBody } from '../../src/worker/answer/calls/format-body.ts';
import { CORPUS_FOLDER, templates } from '../corpus/corpus.ts';
import { acceptor } from '../../packages/schema-grammar/test/grammar-accept.ts';
import { formatOfSource } from '../support/formats.ts';
import { FAMILY_TOOLS, type FamilyOutput, OUTPUTS } from './outputs.ts';

interface Derived {
  readonly digest: string;
  readonly format: Omit<ModelFormat, 'evidence'>;
}

const FORMATS_FILE = new URL('formats.json', import.meta.url);

describe.runIf(CORPUS_FOLDER !== null)("the makers' templates", () => {
  it('have the formats that are written down here', () => {
    const derived = Object.fromEntries(
      templates.map(({ name, source }): [string, Derived] => {
        const { evidence: _, ...format } = formatOfSource(source);
        return [name, { digest: createHash('sha256').update(source).digest('hex'), format }];
      }),
    );
    expect(
      Object.values(derived).filter(({ format }) => format.tools !== null).length,
    ).toBeGreaterThanOrEqual(66);
    // After a change of templates or of what is read from them: HEARTH_WRITE_FORMATS=1, then biome format.
    if (process.env['HEARTH_WRITE_FORMATS'] === '1') writeFileSync(FORMATS_FILE, JSON.stringify(derived));
    expect(JSON.parse(readFileSync(FORMATS_FILE, 'utf8'))).toEqual(derived);
  });
});

describe('outputs of model families', () => {
  const formats = JSON.parse(readFileSync(FORMATS_FILE, 'utf8')) as Readonly<Record<string, Derived>>;
  const cases = OUTPUTS.map((output, index) => ({ ...output, label: `${output.of} (${index})` }));

  it.each(cases)('$label is read in pieces of every size', (expected) => {
    const format = formatOf(expected.of);
    const pieces = [...expected.output];
    for (let size = 1; size <= pieces.length; size = size < 12 ? size + 1 : size * 2)
      expect(read(expected, format, size), `pieces of ${size}`).toEqual(wanted(expected));
  });

  it.each(cases)('$label that is cut is the beginning of the whole, at every character', (expected) => {
    const format = formatOf(expected.of);
    const whole = wanted(expected);
    let most = 0;
    for (let length = 0; length < expected.output.length; length += 1) {
      const cut = { ...expected, output: expected.output.slice(0, length) };
      for (const size of [1, length]) {
        const { reasoning, text, calls } = read(cut, format, size, 'limit');
        // Cancelled or failed, an answer says nothing more.
        const stopped = read(cut, format, size, 'stopped');
        expect(reasoning.startsWith(stopped.reasoning), `${cut.output} → ${stopped.reasoning}`).toBe(true);
        expect(text.startsWith(stopped.text), `${cut.output} → ${stopped.text}`).toBe(true);
        expect(whole.reasoning.startsWith(reasoning), `${cut.output} → ${reasoning}`).toBe(true);
        expect(whole.text.startsWith(text.trimEnd()), `${cut.output} → ${text}`).toBe(true);
        expect(calls, cut.output).toEqual(whole.calls.slice(0, calls.length));
        expect(calls.length).toBeGreaterThanOrEqual(most);
        most = calls.length;
      }
    }
  });

  it.each(cases.filter(({ calls }) => calls !== undefined))(
    '$label is what the grammar allows',
    (expected) => {
      const format = formatOf(expected.of);
      const gbnf = answerGrammar({
        format: { kind: 'text' },
        tools: FAMILY_TOOLS,
        choice: { mode: 'auto' },
        maxCalls: 8,
        model: format,
        inContent: false,
        thinking: placeOf(expected, format),
      });
      expect(acceptor(gbnf ?? '')(expected.output), expected.output).toBe(true);
    },
  );

  function formatOf(name: string): ModelFormat {
    const known = formats[name];
    if (known === undefined) throw new Error(`${name} is not among the formats`);
    return { ...known.format, evidence: [] };
  }
});

function wanted({ reasoning = '', text = '', calls = [] }: FamilyOutput) {
  return { reasoning, text, calls: calls.map(([name, args]) => ({ name, args })) };
}

function placeOf({ opened = false }: FamilyOutput, { thinking }: ModelFormat): ThinkingPlace {
  return thinking === null ? { at: 'nowhere' } : { at: opened ? 'open' : 'choice', marks: thinking };
}

type End = 'own' | 'limit' | 'stopped';

function read(expected: FamilyOutput, format: ModelFormat, size: number, end: End = 'own') {
  const body = new FormatBody({ format, tools: FAMILY_TOOLS, maxCalls: 8, shaped: false });
  const reader = new AnswerReader(placeOf(expected, format), body);
  const rest = [...expected.output];
  const parts: AnswerPart[] = [];
  while (rest.length > 0) parts.push(...reader.text(rest.splice(0, size).join('')));
  if (end !== 'stopped') parts.push(...reader.end(end === 'limit'));
  const joined = (type: AnswerPart['type']) =>
    parts.map((part) => (part.type === type && 'text' in part ? part.text : '')).join('');
  const calls = end === 'stopped' ? [] : callsIn(parts);
  return { reasoning: joined('reasoning'), text: joined('text'), calls };
}

function callsIn(parts: readonly AnswerPart[]): { name: string; args: unknown }[] {
  const calls: { name: string; json: string }[] = [];
  for (const part of parts) {
    const last = calls.at(-1);
    if (part.type === 'tool_call') calls.push({ name: part.name, json: '' });
    if (part.type === 'tool_arguments' && last !== undefined) last.json += part.text;
  }
  return calls.map(({ name, json }) => ({ name, args: JSON.parse(json) as unknown }));
}
