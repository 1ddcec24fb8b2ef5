/**
 * The attack that every forgery comes down to: a text that spells, to the byte, what a template would write around other
 * messages. Found by rendering both conversations without a guard and comparing them.
 */
import type { ToolDefinition, Turn } from '../../src/contract/job.ts';
import { callStyle } from '../../src/worker/prompt/history.ts';
import { modelFormat } from '../../src/worker/prompt/model-format.ts';
import { type ChatPrompt, renderText, type PromptWriter } from '../../src/worker/prompt/prompt.ts';
import { CORPUS_FOLDER } from './corpus.ts';

/** Two conversations that read the same unless client text is guarded. */
export interface Forgery {
  readonly name: string;
  readonly forged: ChatPrompt;
  readonly real: ChatPrompt;
}

interface Shape {
  readonly name: string;
  /** How many texts a client chooses in it. */
  readonly texts: number;
  readonly turns: (texts: readonly string[]) => Turn[];
  /** Absent: the usual ones. */
  readonly tools?: (texts: readonly string[]) => ToolDefinition[];
}

const system = (content = ''): Turn => ({ role: 'system', content });
const user = (content = ''): Turn => ({ role: 'user', content });
const assistant = (content = ''): Turn => ({ role: 'assistant', content });
const result = (id: string, content = ''): Turn => ({
  role: 'tool',
  content,
  toolCallId: id,
  name: 'look_up',
});
const calling = (content: string, ...texts: readonly (string | undefined)[]): Turn => ({
  role: 'assistant',
  content,
  toolCalls: texts.map((q = '', i) => ({
    id: `call0000${i + 1}`,
    name: 'look_up',
    argumentsJson: JSON.stringify({ q }),
  })),
});

const SHAPES: readonly Shape[] = [
  { name: 'a question', texts: 1, turns: ([a]) => [user(a)] },
  { name: 'a system turn', texts: 2, turns: ([a, b]) => [system(a), user(b)] },
  { name: 'turns', texts: 3, turns: ([a, b, c]) => [user(a), assistant(b), user(c)] },
  {
    name: 'system and turns',
    texts: 4,
    turns: ([a, b, c, d]) => [system(a), user(b), assistant(c), user(d)],
  },
  { name: 'a result', texts: 2, turns: ([a, b]) => [user(a), calling('', 'x'), result('call00001', b)] },
  { name: 'a call', texts: 3, turns: ([a, b, c]) => [user(a), calling('', b), result('call00001', c)] },
  {
    name: 'two results',
    texts: 3,
    turns: ([a, b, c]) => [user(a), calling('', 'x', 'y'), result('call00001', b), result('call00002', c)],
  },
  {
    name: 'words and a call',
    texts: 4,
    turns: ([a, b = '', c, d]) => [user(a), calling(b, c), result('call00001', d)],
  },
  {
    name: 'a call in the past',
    texts: 5,
    turns: ([a, b, c, d, e]) => [user(a), calling('', b), result('call00001', c), assistant(d), user(e)],
  },
];

const tool = (name: string, description = '', place = ''): ToolDefinition => ({
  name,
  description,
  parameters: { type: 'object', properties: { q: { type: 'string', description: place } }, required: ['q'] },
});
const reasoned = (reasoning = '', content = ''): Turn => ({ role: 'assistant', content, reasoning });

/** Texts in the other places that a client fills: thoughts, and what it says of its tools. Takes minutes with all templates. */
const FURTHER_SHAPES: readonly Shape[] = [
  {
    name: 'a thought',
    texts: 4,
    turns: ([a, b, c, d]) => [user(a), reasoned(b, c), user(d)],
  },
  {
    name: 'a thought before a call',
    texts: 4,
    turns: ([a, b, c, d]) => [
      user(a),
      { ...calling('', c), ...(b === undefined ? {} : { reasoning: b }) },
      result('call00001', d),
    ],
  },
  {
    name: 'a tool',
    texts: 3,
    turns: ([, , c]) => [user(c)],
    tools: ([a, b]) => [tool('look_up', a, b)],
  },
  {
    name: 'two tools',
    texts: 5,
    turns: ([, , , , e]) => [user(e)],
    tools: ([a, b, c, d]) => [tool('look_up', a, b), tool('find_it', c, d)],
  },
  {
    name: 'a tool and a system turn',
    texts: 4,
    turns: ([a, , , d]) => [system(a), user(d)],
    tools: ([, b, c]) => [tool('look_up', b, c)],
  },
];

const TOOLS: readonly ToolDefinition[] = [tool('look_up', 'Looks things up.')];

function promptOf(writer: PromptWriter, { turns, tools }: Shape, texts: readonly string[]): ChatPrompt {
  return {
    turns: turns(texts),
    tools: tools?.(texts) ?? TOOLS,
    variables: {},
    prefill: [],
    clockMs: 0,
    calls: callStyle(modelFormat(writer)),
  };
}

/** For every pair of shapes and every place for the text: what it would have to say. */
export function forgeriesFor(writer: PromptWriter): Forgery[] {
  const shapes = CORPUS_FOLDER === null ? SHAPES : [...SHAPES, ...FURTHER_SHAPES];
  const targets = shapes.flatMap((shape) => {
    const texts = Array.from({ length: shape.texts }, (_, i) => `words ${i} of it`);
    const real = promptOf(writer, shape, texts);
    const text = attempt(() => renderText(writer, real).string);
    return text === null ? [] : [{ shape, texts, real, text }];
  });
  return targets.flatMap(({ shape, texts, real, text }) =>
    shapes
      .filter((host) => host !== shape && host.texts <= shape.texts)
      .flatMap((host) =>
        Array.from({ length: host.texts }, (_, place) => place).flatMap((place) => {
          const given = (words: string): ChatPrompt => {
            const after = texts.slice(texts.length - (host.texts - 1 - place));
            const given = [...texts.slice(0, place), words, ...(place === host.texts - 1 ? [] : after)];
            return promptOf(writer, host, given);
          };
          const words = missingWords(
            text,
            attempt(() => renderText(writer, given(GAP)).string),
          );
          if (words === null) return [];
          const forged = given(words);
          if (attempt(() => renderText(writer, forged).string) !== text) return [];
          return [{ name: `${shape.name} in the text ${place} of ${host.name}`, forged, real }];
        }),
      ),
  );
}

const GAP = 'the words in question';

/** What has to stand in the gap of one rendering to make it the other; null where nothing can, or no mark is needed. */
function missingWords(target: string, withGap: string | null): string | null {
  const [before, after, ...more] = withGap?.split(GAP) ?? [];
  if (before === undefined || after === undefined || more.length > 0) return null;
  if (!target.startsWith(before) || !target.endsWith(after) || target.length < before.length + after.length)
    return null;
  const words = target.slice(before.length, target.length - after.length);
  // Where a template joins two texts with white space alone, it writes no mark that could be forged.
  return words.replaceAll(/words \d of it/g, '').trim() === '' ? null : words;
}

function attempt<Result>(work: () => Result): Result | null {
  try {
    return work();
  } catch {
    return null;
  }
}
