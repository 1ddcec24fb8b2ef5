/** Text around a gap, by a vocabulary that has tokens for it, and by one that has none. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { bootNative } from '../../src/worker/addon/boot.ts';
import { rawPrompt } from '../../src/worker/prompt/raw-prompt.ts';
import { writeGguf } from '../../tools/gguf/writer.ts';
import { GAP_TOKENS } from '../../tools/models/byte-vocabulary.ts';
import { writeTinyChat } from '../../tools/models/tiny-chat.ts';
import { markedVocabulary } from '../support/engine/vocabularies.ts';
import { bootWorker, type TestWorker } from '../support/engine/worker-harness.ts';

let folder: string;
const workers: TestWorker[] = [];

async function loaded(name: string, fillsGaps: boolean): Promise<TestWorker> {
  const path = join(folder, name);
  await writeTinyChat(path, { fillsGaps });
  const worker = await bootWorker();
  workers.push(worker);
  await worker.load({ path, threads: 1 });
  return worker;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hearth-gap-'));
});

afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.end()));
  await rm(folder, { recursive: true });
});

const prompt = { kind: 'text' as const, text: 'The old <|fim_middle|>', suffix: ' is late.' };

it('is put as the model was trained to read it, and answered', async () => {
  const worker = await loaded('fills.gguf', true);
  const { renderedPrompt, promptTokens } = await worker.explain({ prompt });
  expect(renderedPrompt).toBe('<|fim_prefix|>The old <|fim_middle|><|fim_suffix|> is late.<|fim_middle|>');
  // The mark that a client wrote is spelled out; those of the gap are one token each.
  const words = await Promise.all([prompt.text, prompt.suffix].map((text) => worker.tokenize({ text })));
  expect(promptTokens).toBe(words.reduce((sum, { tokens }) => sum + tokens.length, 3));
  const { done } = await worker.generate({ prompt, maxTokens: 4 });
  expect(done.usage.completionTokens).toBeGreaterThan(0);
});

it('is refused by name where the vocabulary has no tokens for it', async () => {
  const worker = await loaded('plain.gguf', false);
  await expect(worker.generate({ prompt })).rejects.toMatchObject({
    code: 'invalid_request',
    detail: { param: 'suffix' },
  });
});

/** How files before a gap are written with these marks, and which marks are tokens there. */
const FILES: readonly (readonly [marks: readonly string[], before: string, tokens: readonly string[]])[] = [
  [
    ['<|repo_name|>', '<|file_sep|>'],
    '<|repo_name|>project\n<|file_sep|>b.py\nB = <|file_sep|>\n<|file_sep|>filename\n',
    ['<|repo_name|>', '<|file_sep|>', '<|file_sep|>'],
  ],
  [
    ['<|file_sep|>'],
    '<|file_sep|>b.py\nB = <|file_sep|>\n<|file_sep|>filename\n',
    ['<|file_sep|>', '<|file_sep|>'],
  ],
  [[], '\n\n--- snippet ---\n\nB = <|file_sep|>\n', []],
];

// As in Qwen's models of code, whose files declare these marks as words.
it('comes behind further files, as far as the vocabulary has marks for them', async () => {
  const backend = await bootNative('off');
  for (const [marks, before, found] of FILES) {
    const path = join(folder, `files-${marks.length}.gguf`);
    await writeGguf(path, { metadata: markedVocabulary([], [...GAP_TOKENS, ...marks]), tensors: [] });
    const { vocabulary } = await backend.openTexts(path);
    const files = [{ name: 'b.py', text: 'B = <|file_sep|>\n' }];
    const { tokens, pieces } = rawPrompt(vocabulary, { kind: 'text', text: 'f(', suffix: ')', files });
    expect(pieces[0]?.text).toBe(`${before}<|fim_prefix|>f(<|fim_suffix|>)<|fim_middle|>`);
    const tokenOf = (mark: string) => vocabulary.tokenize(mark, true)[0];
    const known = [...GAP_TOKENS, ...marks].map(tokenOf);
    // A mark that a client wrote is none.
    expect([...tokens].filter((token) => known.includes(token))).toEqual(
      [...found, ...GAP_TOKENS].map(tokenOf),
    );
  }
});
