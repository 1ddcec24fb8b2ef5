/**
 * The attack that every forgery comes down to: a text that spells, to the byte, what a template would write around other
 * messages. Found by rendering both conversations without a guard and comparing them.
 */
import type { ToolDefinition, Turn } from '../../src/contract/job.ts';
import { type ChatPrompt, renderText, type PromptWriter } from '../../src/worker/prompt/prompt.ts';

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

const TOOLS: readonly ToolDefinition[] = [
  {
    name: 'look_up',
    description: 'Looks things up.',
    parameters: { type: 'object', properties: { q: { type: 'string' } }, required: ['q'] },
  },
];

export function promptOf(turns: readonly Turn[]): ChatPrompt {
  return { turns, tools: TOOLS, variables: {}, prefill: [], clockMs: 0 };
}

/** For every pair of shapes and every place for the text: what it would have to say. */
export function forgeriesFor(writer: PromptWriter): Forgery[] {
  const targets = SHAPES.flatMap((shape) => {
    const texts = Array.from({ length: shape.texts }, (_, i) => `words ${i} of it`);
    const real = promptOf(shape.turns(texts));
    const text = attempt(() => renderText(writer, real).string);
    return text === null ? [] : [{ shape, texts, real, text }];
  });
  return targets.flatMap(({ shape, texts, real, text }) =>
    SHAPES.filter((host) => host !== shape && host.texts <= shape.texts).flatMap((host) =>
      Array.from({ length: host.texts }, (_, place) => place).flatMap((place) => {
        const given = (words: string): ChatPrompt => {
          const after = texts.slice(texts.length - (host.texts - 1 - place));
          return promptOf(
            host.turns([...texts.slice(0, place), words, ...(place === host.texts - 1 ? [] : after)]),
          );
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
