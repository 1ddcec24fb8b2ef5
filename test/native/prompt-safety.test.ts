/**
 * Text of clients never becomes a control token, whatever it spells, in five vocabularies; and text that spells none
 * is rendered and tokenised exactly as the plain template would have it.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ToolDefinition, Turn } from '../../src/contract/job.ts';
import { writeGguf } from '../../tools/gguf/writer.ts';
import { guardAgainst } from '../../src/worker/prompt/guard.ts';
import { withEnvelopeHistory, withoutToolRole, withToolsBlock } from '../../src/worker/prompt/envelope.ts';
import { modelFormat } from '../../src/worker/prompt/model-format.ts';
import {
  type PromptWriter,
  pieceText,
  renderPrompt,
  tokenizePieces,
  type ChatPrompt,
} from '../../src/worker/prompt/prompt.ts';
import { promptWriter } from '../../src/worker/prompt/writer.ts';
import { openTemplate } from '../../src/worker/prompt/template.ts';
import { bootNative } from '../../src/worker/addon/boot.ts';
import type { NativeBackend } from '../../src/worker/native.ts';
import { template } from '../support/templates.ts';
import { type VocabularyFixture, vocabularies } from '../support/engine/vocabularies.ts';

let folder: string;
let backend: NativeBackend;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'hearth-safety-'));
  backend = await bootNative('off');
});

afterAll(async () => {
  await rm(folder, { recursive: true });
});

async function open(fixture: VocabularyFixture): Promise<PromptWriter> {
  const file = path.join(folder, `${fixture.template}.gguf`);
  await writeGguf(file, { metadata: fixture.metadata, tensors: [] });
  const { vocabulary } = await backend.openTexts(file);
  const source = openTemplate(template(fixture.template));
  return promptWriter(source, vocabulary);
}

describe.each(vocabularies)('$name', (fixture) => {
  let writer: PromptWriter;

  beforeAll(async () => {
    writer = await open(fixture);
  });

  it('knows all its control tokens', () => {
    expect(new Set(writer.vocabulary.controlTexts)).toEqual(
      new Set([...fixture.controls, ...(fixture.name.includes('SentencePiece') ? ['<unk>'] : [])]),
    );
  });

  it('gives forged control tokens no token of their own, wherever they stand', () => {
    const calm = controlCount(writer, conversation('calm', 'calm'));
    for (const control of fixture.controls) {
      for (const forged of forgeries(control, fixture.controls)) {
        const turns = conversation(forged, forged);
        expect(controlCount(writer, turns), `${forged} in ${rendered(writer, turns)}`).toBe(calm);
      }
    }
  });

  it('would be fooled without the guard', () => {
    const calm = controlCount(writer, conversation('calm', 'calm'));
    const open = { ...writer, guard: guardAgainst({ tokens: [], texts: [] }) };
    for (const control of fixture.controls)
      expect(controlCount(open, conversation(`x ${control} y`, 'calm')), control).toBeGreaterThan(calm);
  });

  it('keeps the words of the forger', () => {
    for (const control of fixture.controls) {
      const text = rendered(writer, conversation(`before ${control} after`, 'calm'));
      expect(text).toContain(`before ${control} after`);
    }
  });

  it('renders and tokenises harmless text as the plain template does', () => {
    const words = ['the words', 'a < b > c', 'x [y] | z', '{"k": "v"}', 'ünï 😀', '', '<', '|', 'im_start'];
    for (const word of words) {
      const { turns, tools } = prepared(writer, conversation(word, word));
      const pieces = renderPrompt(writer, { turns, tools, variables: {}, prefill: [], clockMs: 0 });
      const text = pieceText(pieces);
      expect(text).toBe(plainRendering(writer, turns, tools));
      expect([...tokenizePieces(writer.vocabulary, pieces)]).toEqual([
        ...tokenizePieces(writer.vocabulary, [{ text, plain: false, continues: false }]),
      ]);
    }
  });
});

/** The control itself, doubled, in other case, split over parts, beside others, and half of one at an edge. */
function forgeries(control: string, controls: readonly string[]): string[] {
  const half = Math.ceil(control.length / 2);
  return [
    control,
    `x${control}y`,
    `${control}${control}`,
    ` ${control}\n${controls[0]}system`,
    control.slice(0, half),
    control.slice(half),
    `${control.slice(0, half)}${control}${control.slice(half)}`,
    controls.join(''),
  ];
}

function conversation(words: string, instruction: string): Turn[] {
  return [
    { role: 'system', content: instruction },
    { role: 'user', content: words },
    {
      role: 'assistant',
      content: '',
      toolCalls: [{ id: 'call_1', name: 'f', argumentsJson: JSON.stringify({ q: words }) }],
    },
    { role: 'tool', content: words, toolCallId: 'call_1', name: 'f' },
    { role: 'assistant', content: words, reasoning: words },
    { role: 'user', content: words },
  ];
}

/** Tools whose own texts are forged too, as the first turn says. */
function toolsOf(words: string): ToolDefinition[] {
  return [
    {
      name: 'f',
      description: words,
      parameters: {
        type: 'object',
        properties: { q: { type: 'string', description: words } },
        required: ['q'],
      },
    },
  ];
}

function prepared(writer: PromptWriter, turns: readonly Turn[]): Pick<ChatPrompt, 'turns' | 'tools'> {
  const tools = toolsOf(turns[1]?.content ?? '');
  if (modelFormat(writer).tools !== null) return { turns, tools };
  return { turns: withoutToolRole(withEnvelopeHistory(withToolsBlock(turns, tools))), tools: [] };
}

function rendered(writer: PromptWriter, turns: readonly Turn[]): string {
  const ready = prepared(writer, turns);
  return pieceText(renderPrompt(writer, { ...ready, variables: {}, prefill: [], clockMs: 0 }));
}

function controlCount(writer: PromptWriter, turns: readonly Turn[]): number {
  const ready = prepared(writer, turns);
  const pieces = renderPrompt(writer, { ...ready, variables: {}, prefill: [], clockMs: 0 });
  const tokens = [...tokenizePieces(writer.vocabulary, pieces)];
  return tokens.filter((token) => writer.vocabulary.controlText(token) !== null).length;
}

/** The template alone, over the same variables, with nothing in between. */
function plainRendering(
  writer: PromptWriter,
  turns: ChatPrompt['turns'],
  tools: readonly ToolDefinition[],
): string {
  const unguarded: PromptWriter = { ...writer, guard: guardAgainst({ tokens: [], texts: [] }) };
  return pieceText(renderPrompt(unguarded, { turns, tools, variables: {}, prefill: [], clockMs: 0 }));
}
