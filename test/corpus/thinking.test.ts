/** Thinking switched on and off, in templates that each say it in their own way. */
import { describe, expect, it } from 'vitest';
import type { GenerateJob } from '../../src/contract/job.ts';
import { planAnswer } from '../../src/worker/answer/plan-answer.ts';
import { loadChat } from '../../src/worker/load/chat.ts';
import { prepareChat } from '../../src/worker/prepare.ts';
import { pieceText } from '../../src/worker/prompt/prompt.ts';
import { openTemplate } from '../../src/worker/prompt/template.ts';
import { promptWriter } from '../../src/worker/prompt/writer.ts';
import { tellsOfThinking } from '../../packages/chat-templates/src/tool-format/exceptions.ts';
import { formatOfSource } from '../support/formats.ts';
import { generateJob } from '../support/engine/jobs.ts';
import { answering, scriptedBackend, scriptedSpec } from '../support/engine/scripted-backend.ts';
import { templates } from './corpus.ts';

const { backend } = scriptedBackend(answering(() => ''));
const chat = await loadChat(backend, { ...scriptedSpec, numCtx: 4096 }, () => undefined);

/** With each: where thinking may stand in the answer, and what the prompt ends with. */
const FAMILIES: Readonly<
  Record<string, Readonly<Record<'on' | 'off' | 'unasked', readonly [at: string, end: string]>>>
> = {
  'google-gemma-4-31B-it': {
    on: ['choice', '<|turn>model\n'],
    off: ['nowhere', '<|channel>thought\n<channel|>'],
    unasked: ['nowhere', '<|channel>thought\n<channel|>'],
  },
  'MiniMax-M3': {
    on: ['open', ']~b]ai\n<mm:think>'],
    off: ['nowhere', ']~b]ai\n</mm:think>'],
    unasked: ['choice', ']~b]ai\n'],
  },
  'Apriel-1.6-15b-Thinker-fixed': {
    on: ['open', 'Here are my reasoning steps:\n'],
    off: ['nowhere', 'Here are my reasoning steps:\n\n[BEGIN FINAL RESPONSE]\n\n'],
    unasked: ['open', 'Here are my reasoning steps:\n'],
  },
  'upstage-Solar-Open-100B': {
    on: ['choice', '<|begin|>assistant'],
    off: ['nowhere', '<|begin|>assistant<|think|><|end|><|begin|>assistant'],
    unasked: ['choice', '<|begin|>assistant'],
  },
  // It thinks when it is told to: a thought that comes all the same is read as one, and ended at once.
  'ibm-granite-granite-3.3-2B-Instruct': {
    on: ['choice', 'assistant<|end_of_role|>'],
    off: ['choice', 'assistant<|end_of_role|>'],
    unasked: ['choice', 'assistant<|end_of_role|>'],
  },
  'Qwen-Qwen3-0.6B': {
    on: ['choice', '<|im_start|>assistant\n'],
    off: ['nowhere', '<think>\n\n</think>\n\n'],
    unasked: ['choice', '<|im_start|>assistant\n'],
  },
};

const found = templates.filter(({ name }) => Object.hasOwn(FAMILIES, name));

describe('thinking', () => {
  it.each(found)('is switched by $name', ({ name, source }) => {
    for (const [asked, [at, end]] of Object.entries(FAMILIES[name] ?? {})) {
      const { plan, prepared } = prepare(source, asked);
      expect([asked, plan.grammarRequest.thinking.at]).toEqual([asked, at]);
      expect(
        pieceText(prepared.pieces).endsWith(end),
        `${asked}: ${pieceText(prepared.pieces).slice(-80)}`,
      ).toBe(true);
    }
  });

  it('is expected from the text of each template that writes it, and of no other', () => {
    const wrong = templates.filter(
      ({ source }) => tellsOfThinking(source) !== (formatOfSource(source).thinking !== null),
    );
    expect(wrong.map(({ name }) => name)).toEqual([]);
  });

  it('that is off and begins all the same is no part of the words, and ends at once', () => {
    const granite = found.find(({ name }) => name.startsWith('ibm-granite'));
    const { answer } = prepare(granite?.source ?? '', 'off').prepared;
    const parts = answer.parser.text('<think>Why');
    expect(answer.constraint?.forcedToken()).toBeNull();
    answer.constraint?.accept(1);
    const closing: string[] = [];
    for (let token = answer.constraint?.forcedToken(); typeof token === 'number'; ) {
      closing.push(String.fromCodePoint(token));
      answer.constraint?.accept(token);
      token = answer.constraint?.forcedToken();
    }
    expect(closing.join('')).toBe('\n</think>\n\n');
    parts.push(...answer.parser.text(`${closing.join('')}Words`), ...answer.parser.end(false));
    const said = (type: string) =>
      parts.map((part) => (part.type === type && 'text' in part ? part.text : '')).join('');
    expect([said('reasoning'), said('text')]).toEqual(['Why', 'Words']);
  });
});

function prepare(source: string, asked: string) {
  const writer = promptWriter(openTemplate(source), chat.vocabulary);
  const reasoning: GenerateJob['reasoning'] = asked === 'unasked' ? {} : { enabled: asked === 'on' };
  const prompt: GenerateJob['prompt'] = { kind: 'chat', turns: [{ role: 'user', content: 'Why?' }] };
  const job = generateJob({ prompt, reasoning });
  return { plan: planAnswer(job, writer), prepared: prepareChat({ ...chat, writer }, job) };
}
