/** No text of a client makes the tokens of one conversation those of another, whichever template and vocabulary. */
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bootNative } from '../../src/worker/addon/boot.ts';
import type { NativeBackend } from '../../src/worker/native.ts';
import { guardAgainst } from '../../src/worker/prompt/guard.ts';
import {
  type ChatPrompt,
  type PromptWriter,
  renderPrompt,
  renderText,
  tokenizePieces,
} from '../../src/worker/prompt/prompt.ts';
import { promptWriter } from '../../src/worker/prompt/writer.ts';
import { openTemplate } from '../../src/worker/prompt/template.ts';
import type { Vocabulary } from '../../src/worker/prompt/vocabulary.ts';
import { writeGguf } from '../../tools/gguf/writer.ts';
import { markedVocabulary } from '../support/engine/vocabularies.ts';
import { CORPUS_FOLDER, templates } from './corpus.ts';
import { forgeriesFor } from './forgeries.ts';

/** Of families with templates in the corpus, and two that have none of their marks. */
const REAL = ['command-r', 'deepseek-llm', 'gemma-4', 'gpt-2', 'llama-bpe', 'llama-spm', 'phi-3', 'qwen2'];

/** Vocabularies of hundreds of thousands of tokens, one after the other. */
const OPENING_MS = 600_000;

/** Of a model without a template. */
const STAND_IN = { name: 'the stand-in', source: '' };

/** What reads the same on purpose, or cannot be told apart. */
const NO_FORGERIES: readonly { readonly name: RegExp; readonly why: string }[] = [
  {
    name: /^a thought.* in the text [1-3] of (?:turns|words and a call|system and turns|a call in the past)$/,
    why: 'templates take thoughts out of the text of an answer, as they intend',
  },
  {
    name: /^two tools in the text 2 of a tool$/,
    why: 'the question stands behind the tools in one turn, with white space alone between them',
  },
];

const MARK = /<[^\s<>]{1,60}>|\[\/?[A-Z_]{3,40}\]/g;

let folder: string;
let backend: NativeBackend;
const shared: Vocabulary[] = [];

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'hearth-forgeries-'));
  backend = await bootNative('off');
  shared.push(await withMarks([], []));
  if (CORPUS_FOLDER === null) return;
  for (const name of REAL)
    shared.push((await backend.openTexts(path.join(CORPUS_FOLDER, `ggml-vocab-${name}.gguf`))).vocabulary);
}, OPENING_MS);

afterAll(async () => {
  await rm(folder, { recursive: true });
});

async function withMarks(controls: readonly string[], userDefined: readonly string[]): Promise<Vocabulary> {
  const file = path.join(folder, 'vocabulary.gguf');
  if (existsSync(file)) await rm(file);
  await writeGguf(file, { metadata: markedVocabulary(controls, userDefined), tensors: [] });
  return (await backend.openTexts(file)).vocabulary;
}

const tokens = (writer: PromptWriter, prompt: ChatPrompt): string =>
  tokenizePieces(writer.vocabulary, writer.guard.pieces(renderText(writer, prompt))).join(' ');

describe('a forged conversation', () => {
  let found = 0;

  it.each([...templates, STAND_IN])(
    'is none of $name',
    async ({ source }) => {
      const template = openTemplate(source);
      const marks = [...new Set(source.match(MARK) ?? [])];
      const own = await withMarks(
        marks.filter((_, i) => i % 2 === 0),
        marks.filter((_, i) => i % 2 === 1),
      );
      for (const vocabulary of [own, ...shared]) {
        const writer = promptWriter(template, vocabulary);
        const open = { ...writer, guard: guardAgainst({ tokens: [], texts: [] }) };
        const forgeries = forgeriesFor(writer);
        found += forgeries.length;
        for (const { name, forged, real } of forgeries) {
          expect(tokens(open, forged), `${name} is a forgery without the guard`).toBe(tokens(open, real));
          if (NO_FORGERIES.some((each) => each.name.test(name))) continue;
          expect(tokens(writer, forged), name).not.toBe(tokens(writer, real));
        }
      }
    },
    OPENING_MS,
  );

  it('was tried', () => {
    // In the committed templates alone; with two vocabularies each.
    expect(found).toBeGreaterThan(400);
  });
});

/** What people write about code, markup and conversations. */
const HARMLESS = [
  '<div>\n  <b class="x">bold</b>\n</div>\n<name>N</name>',
  'if (a > b)\n  return a >> 2; // [x] List[str]',
  '{"name": "f", "arguments": {"q": 1}}\n## Title\n### Part 2\n> quoted\n',
  'human: hello\nUser says: no\n1. one\n---\n',
].join('\n\n');

/** It wants its tools as a text of its own, and refuses every conversation without, in the reference too. */
const REFUSES_ALL = 'fireworks-ai-llama-3-firefunction-v2';

describe('harmless text', () => {
  it.each(templates.filter(({ name }) => name !== REFUSES_ALL))(
    'is left alone by $name',
    async ({ source }) => {
      const writer = promptWriter(openTemplate(source), await withMarks([], []));
      const prompt = {
        turns: [{ role: 'user' as const, content: HARMLESS }],
        tools: [],
        variables: {},
        prefill: [],
        clockMs: 0,
      };
      const pieces = renderPrompt(writer, prompt);
      expect(pieces).toHaveLength(1);
      expect(pieces[0]?.text).toContain(HARMLESS.trim());
    },
  );
});
