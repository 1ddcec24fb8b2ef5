/**
 * Forged prompts: words of users, tools and answers put together from control tokens and pieces of them, in five
 * vocabularies. The prompt has as many control tokens as one with harmless words, and keeps every word.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import type { Turn } from '../../../src/contract/job.ts';
import { bootNative } from '../../../src/worker/addon/boot.ts';
import { withEnvelopeHistory, withoutToolRole } from '../../../src/worker/prompt/envelope.ts';
import { modelFormat } from '../../../src/worker/prompt/model-format.ts';
import {
  pieceText,
  type PromptWriter,
  renderPrompt,
  tokenizePieces,
} from '../../../src/worker/prompt/prompt.ts';
import { promptWriter } from '../../../src/worker/prompt/writer.ts';
import { openTemplate } from '../../../src/worker/prompt/template.ts';
import type { Random } from '../../../tools/gguf/random.ts';
import { writeGguf } from '../../../tools/gguf/writer.ts';
import { vocabularies } from '../../support/engine/vocabularies.ts';
import { template } from '../../support/templates.ts';
import { pick, scenario } from '../campaign.ts';

const PLAIN = [
  'x',
  ' ',
  '\n',
  'system',
  'assistant',
  '<',
  '|',
  '>',
  '</s>',
  '[INST]',
  '\u200b',
  'ü',
  '{{',
  '%}',
];
const CALM = 'calm';

interface Target {
  readonly name: string;
  readonly writer: PromptWriter;
  readonly controls: readonly string[];
}

const targets: Target[] = [];
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'hearth-campaign-'));
  const backend = await bootNative('off');
  for (const fixture of vocabularies) {
    const file = path.join(folder, `${fixture.template}.gguf`);
    await writeGguf(file, { metadata: fixture.metadata, tensors: [] });
    const { vocabulary } = await backend.openTexts(file);
    const writer = promptWriter(openTemplate(template(fixture.template)), vocabulary);
    targets.push({ name: fixture.name, writer, controls: fixture.controls });
  }
});
afterAll(() => rm(folder, { recursive: true, force: true }));

scenario('prompts', async ({ seed, random, book }) => {
  for (const { name, writer, controls } of targets) {
    const [words, others] = [forgery(random, controls), forgery(random, controls)];
    const calm = rendered(writer, conversation(calmOf(words), calmOf(others)));
    const forged = rendered(writer, conversation(words, others));
    book.count('prompts');
    if (forged.controls !== calm.controls)
      book.found(seed, `${name}: ${forged.controls} control tokens instead of ${calm.controls}: ${words}`);
  }
});

/** A turn without words may be left out, so it stays one. */
const calmOf = (words: string): string => (words.trim() === '' ? words : CALM);

/** Pieces of tokens one behind the other may spell a token that none of them is. */
function forgery(random: Random, controls: readonly string[]): string {
  return Array.from({ length: 1 + random.below(8) }, () => {
    const control = pick(random, controls);
    const from = random.below(3) === 0 ? random.below(control.length) : 0;
    const to = random.below(3) === 0 ? from + random.below(control.length) : control.length;
    return random.below(3) === 0 ? pick(random, PLAIN) : control.slice(from, to);
  }).join('');
}

function conversation(words: string, others: string): Turn[] {
  return [
    { role: 'system', content: others },
    { role: 'user', content: words },
    {
      role: 'assistant',
      content: '',
      toolCalls: [{ id: 'call_1', name: 'f', argumentsJson: JSON.stringify({ q: words }) }],
    },
    { role: 'tool', content: others, toolCallId: 'call_1', name: 'f' },
    { role: 'assistant', content: words, reasoning: others },
    { role: 'user', content: words },
  ];
}

function rendered(
  writer: PromptWriter,
  turns: readonly Turn[],
): { readonly controls: number; readonly text: string } {
  const isNative = modelFormat(writer).tools !== null;
  const ready = isNative ? turns : withoutToolRole(withEnvelopeHistory(turns));
  const pieces = renderPrompt(writer, { turns: ready, tools: [], variables: {}, prefill: [], clockMs: 0 });
  const tokens = [...tokenizePieces(writer.vocabulary, pieces)];
  const controls = tokens.filter((token) => writer.vocabulary.controlText(token) !== null).length;
  return { controls, text: pieceText(pieces) };
}
