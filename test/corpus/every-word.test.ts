/**
 * Whatever conversation a client sends, every template takes it, and every word of it is in the prompt once, in order.
 * Thoughts of earlier turns are not sent here: most templates leave them out by design.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type ChatJob, chatPrompt } from '../../src/worker/prepare.ts';
import type { ToolDefinition, Turn } from '../../src/contract/job.ts';
import { planAnswer } from '../../src/worker/answer/plan-answer.ts';
import { foldPrompt, renderText } from '../../src/worker/prompt/prompt.ts';
import { openTemplate } from '../../src/worker/prompt/template.ts';
import type { Vocabulary } from '../../src/worker/prompt/vocabulary.ts';
import { promptWriter } from '../../src/worker/prompt/writer.ts';
import { generateJob } from '../support/engine/jobs.ts';
import { CORPUS_FOLDER, templates } from './corpus.ts';

const vocabulary = {
  bosText: '<s>',
  eosText: '</s>',
  controlTexts: ['<s>', '</s>'],
  userDefinedTexts: [],
  separateTexts: [],
} as Partial<Vocabulary> as Vocabulary;

const tools: readonly ToolDefinition[] = [
  {
    name: 'lookup',
    description: 'Looks it up.',
    parameters: { type: 'object', properties: { argument: { type: 'string', description: 'What' } } },
  },
];

/** What one message of a client may be. */
type Step =
  | 'system'
  | 'user'
  | 'assistant'
  | 'call'
  | 'calls'
  | 'said-call'
  | 'empty-user'
  | 'empty-assistant'
  | 'result-and-text';
const STEPS: readonly Step[] = [
  'system',
  'user',
  'assistant',
  'call',
  'calls',
  'said-call',
  'empty-user',
  'empty-assistant',
  'result-and-text',
];

interface Conversation {
  readonly turns: readonly Turn[];
  /** In the order in which they are said. */
  readonly words: readonly string[];
}

function conversationOf(steps: readonly Step[]): Conversation {
  const words: string[] = [];
  const word = (): string => {
    const made = `wort${words.length + 100}q`;
    words.push(made);
    return made;
  };
  const calling = (count: number, said: boolean): Turn[] => {
    const content = said ? word() : '';
    const ids = Array.from({ length: count }, (_, at) => `call${words.length}x${at}`);
    const toolCalls = ids.map((id) => ({ id, name: 'lookup', argumentsJson: `{"argument":"${word()}"}` }));
    const results = ids.map(
      (id): Turn => ({ role: 'tool', content: word(), toolCallId: id, name: 'lookup' }),
    );
    return [{ role: 'assistant', content, toolCalls }, ...results];
  };
  const turns = steps.flatMap((step): Turn[] => {
    switch (step) {
      case 'system':
      case 'user':
      case 'assistant':
        return [{ role: step, content: word() }];
      case 'empty-user':
        return [{ role: 'user', content: '' }];
      case 'empty-assistant':
        return [{ role: 'assistant', content: '' }];
      case 'call':
        return calling(1, false);
      case 'calls':
        return calling(2, false);
      case 'said-call':
        return calling(1, true);
      case 'result-and-text':
        return [...calling(1, false), { role: 'user', content: word() }];
    }
  });
  return { turns, words };
}

function rendered(template: ReturnType<typeof openTemplate>, turns: readonly Turn[], withTools: boolean) {
  const writer = promptWriter(template, vocabulary);
  const job = {
    ...generateJob(),
    tools: withTools ? [...tools] : [],
    toolChoice: { mode: withTools ? 'auto' : 'none' },
    prompt: { kind: 'chat', turns: [...turns] },
  } as ChatJob;
  const prompt = chatPrompt(writer, job, planAnswer(job, writer));
  const folded = foldPrompt(writer, prompt);
  return { folds: folded.folds, text: renderText(writer, { ...prompt, turns: folded.turns }).string };
}

/** Null: as it should be. */
function defectOf(text: string, words: readonly string[], isSplit: boolean): string | null {
  const places = words.map((word) => text.indexOf(word));
  const missing = words.filter((_, at) => places[at] === -1);
  if (missing.length > 0) return 'missing';
  if (words.some((word, at) => text.indexOf(word, (places[at] ?? 0) + 1) >= 0)) return 'twice';
  // Split calls stand next to their results.
  const inOrder = places.every((place, at) => at === 0 || place > (places[at - 1] ?? 0));
  return inOrder || isSplit ? null : 'order';
}

const conversations = fc.tuple(
  fc.array(fc.constantFrom(...STEPS), { minLength: 1, maxLength: 6 }),
  fc.boolean(),
);

it.each(templates)('$name takes every conversation', ({ source }) => {
  const template = openTemplate(source);
  fc.assert(
    fc.property(conversations, (asked) => {
      const [steps, withTools] = asked;
      const { turns, words } = conversationOf(steps);
      const { text, folds } = rendered(template, turns, withTools);
      expect(defectOf(text, words, folds.includes('calls=split'))).toBeNull();
    }),
    { numRuns: CORPUS_FOLDER === null ? 60 : 150 },
  );
});
