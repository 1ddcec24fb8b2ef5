/** Real vocabularies pass the import gate, and tokenise llama.cpp's test inputs as llama.cpp says, line by line. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { openPlainFile } from '../../src/lib/files/plain-file.ts';
import { HeaderCursor, type Refuse } from '../../packages/gguf/src/format/cursor.ts';
import { readHeader } from '../../packages/gguf/src/format/header.ts';
import { Lookup } from '../../packages/gguf/src/format/lookup.ts';
import { readShape } from '../../packages/gguf/src/gate/shape-checks.ts';
import { readChatTemplate } from '../../packages/gguf/src/gate/template-checks.ts';
import { checkVocabulary } from '../../packages/gguf/src/gate/tokens/vocabulary-checks.ts';
import { bootNative } from '../../src/worker/addon/boot.ts';
import { Text } from '../../packages/chat-templates/src/jinja/values/text.ts';
import type { NativeBackend } from '../../src/worker/native.ts';
import { tokenizePieces } from '../../src/worker/prompt/prompt.ts';
import { rawPrompt } from '../../src/worker/prompt/raw-prompt.ts';
import { promptWriter } from '../../src/worker/prompt/writer.ts';
import { PromptTokens } from '../../src/worker/prompt/prompt-tokens.ts';
import { openTemplate } from '../../src/worker/prompt/template.ts';
import { CORPUS_FOLDER, digest, readJson } from './corpus.ts';

const expected = readJson<Readonly<Record<string, string>>>('vocabularies.expected.json');

const folder = CORPUS_FOLDER ?? '';
const names =
  CORPUS_FOLDER === null
    ? []
    : readdirSync(folder).flatMap((file) => /^ggml-vocab-(.+)\.gguf$/.exec(file)?.[1] ?? []);
const fileOf = (name: string): string => path.join(folder, `ggml-vocab-${name}.gguf`);

describe.skipIf(CORPUS_FOLDER === null)('real vocabularies', () => {
  let backend: NativeBackend;

  beforeAll(async () => {
    backend = await bootNative('off');
  });

  it('are all there', () => {
    expect(names).toHaveLength(19);
    expect(names).toEqual(expect.arrayContaining(Object.keys(expected)));
  });

  it.each(names)('%s passes the gate', async (name) => {
    const refuse: Refuse = (reason) => expect.fail(reason);
    const { file, stamp } = await openPlainFile(fileOf(name));
    try {
      const header = await readHeader(
        new HeaderCursor(file, stamp.sizeBytes, refuse),
        stamp.sizeBytes,
        refuse,
      );
      const lookup = new Lookup(header.metadata, refuse);
      checkVocabulary(header, lookup);
      readShape(lookup);
      readChatTemplate(lookup);
      expect(header.vocabulary.size).toBeGreaterThan(30_000);
    } finally {
      await file.close();
    }
  });

  it.each(Object.keys(expected))('%s tokenises as llama.cpp says', async (name) => {
    const { vocabulary } = await backend.openTexts(fileOf(name));
    const inputs = readFileSync(`${fileOf(name)}.inp`, 'utf8').split('\n__ggml_vocab_test__\n');
    const lines = expected[name]?.split(' ') ?? [];
    expect(lines.length).toBeGreaterThan(40);
    for (const [i, line] of lines.entries()) {
      const input = inputs[i] ?? expect.fail(`there is no input ${i}`);
      expect(
        digest([...vocabulary.tokenize(input, false)].join(' ')).slice(0, 8),
        JSON.stringify(input),
      ).toBe(line);
    }
  });

  it.each(names)('%s gives a prompt the same tokens in parts that are remembered', async (name) => {
    const { vocabulary } = await backend.openTexts(fileOf(name));
    const { controlTexts, userDefinedTexts, separateTexts } = vocabulary;
    // Whatever the vocabulary knows may stand in a template, side by side with the hard texts.
    const marks = [...separateTexts.slice(0, 24), ...separateTexts.slice(-8)];
    const others = [...controlTexts.slice(0, 8), ...userDefinedTexts.slice(0, 8), ' ', '  \n'];
    const inputs = readFileSync(`${fileOf('llama-bpe')}.inp`, 'utf8').split('\n__ggml_vocab_test__\n');
    const text = inputs
      .flatMap((input, i) => [marks[i % marks.length] ?? '', input, others[i % others.length] ?? ''])
      .join('');
    const tokens = new PromptTokens(vocabulary, marks.join(' '));
    for (const pieces of [
      [{ text, plain: false, continues: false }],
      [
        { text: 'a', plain: false, continues: false },
        { text, plain: false, continues: true },
      ],
    ]) {
      const whole = tokenizePieces(vocabulary, pieces);
      expect(tokens.of(pieces, '')).toEqual(whole);
      expect(tokens.of(pieces, '')).toEqual(whole);
    }
  });

  it.each(names)('%s gives a client none of its control tokens', async (name) => {
    const { vocabulary: opened } = await backend.openTexts(fileOf(name));
    const writer = promptWriter(openTemplate(undefined), opened);
    const { vocabulary, guard } = writer;
    for (const control of vocabulary.controlTexts.slice(0, 300)) {
      const pieces = guard.pieces(Text.client(`a ${control} b${control}`));
      const tokens = tokenizePieces({ ...vocabulary, prependToken: null }, pieces);
      expect(
        [...tokens].filter((token) => vocabulary.controlText(token) === control),
        control,
      ).toEqual([]);
    }
  });

  /** As the makers of each family say it: what stands around the gap, in the order in which it is read. */
  const GAPS: Readonly<Record<string, readonly [prefix: string, suffix: string, middle: string]>> = {
    starcoder: ['<fim_prefix>', '<fim_suffix>', '<fim_middle>'],
    refact: ['<fim_prefix>', '<fim_suffix>', '<fim_middle>'],
    'deepseek-coder': ['<｜fim▁begin｜>', '<｜fim▁hole｜>', '<｜fim▁end｜>'],
  };

  it.each(Object.entries(GAPS))('%s has the tokens of its family around a gap', async (name, marks) => {
    const { vocabulary } = await backend.openTexts(fileOf(name));
    const [text, suffix] = [`def add(a, ${marks[2]}`, '):\n    return a + b\n'];
    const { tokens } = rawPrompt(vocabulary, { kind: 'text', text, suffix });
    const ids = marks.map((mark) => {
      const [id, ...more] = vocabulary.tokenize(mark, true);
      expect(more, mark).toEqual([]);
      return id;
    });
    const opening = vocabulary.prependToken === null ? [] : [vocabulary.prependToken];
    // The mark that a client wrote is none.
    expect([...tokens]).toEqual([
      ...opening,
      ids[0],
      ...vocabulary.tokenize(text, false),
      ids[1],
      ...vocabulary.tokenize(suffix, false),
      ids[2],
    ]);
    expect([...tokens].filter((token) => token === ids[2])).toHaveLength(1);
  });

  // These files of Qwen's are older than its marks for code, or were made without them.
  it.each(['qwen2', 'qwen35', 'gpt-2', 'llama-spm', 'phi-3'])('%s has none', async (name) => {
    const { vocabulary } = await backend.openTexts(fileOf(name));
    expect(vocabulary.gap).toBeNull();
  });
});
