/** System prompts without the lines that would spoil what they share with the request before. */
import type { Prompt, Turn } from '../../contract/job.ts';
import { type VolatileTreatment, withoutVolatileLines } from '../../lib/prompt-cache/volatile-lines.ts';

/** A line or a turn that did not stay as the client put it. */
export interface Rewriting {
  readonly name: string;
  readonly how: string;
}

export interface RewrittenPrompt {
  readonly prompt: Prompt;
  readonly rewritten: readonly Rewriting[];
}

/** Only system turns are read: what a user or a tool says is theirs. */
export function withoutVolatile(prompt: Prompt, treatment: VolatileTreatment): RewrittenPrompt {
  if (treatment === 'keep' || prompt.kind !== 'chat') return { prompt, rewritten: [] };
  const found: { readonly name: string; readonly line: string }[] = [];
  const turns = prompt.turns.flatMap((turn): Turn[] => {
    if (turn.role !== 'system') return [turn];
    const { text, lines } = withoutVolatileLines(turn.content);
    if (lines.length === 0) return [turn];
    found.push(...lines);
    return text === '' ? [] : [{ ...turn, content: text }];
  });
  // A conversation of nothing else is left alone: without a turn there is nothing to answer.
  if (found.length === 0 || turns.length === 0) return { prompt, rewritten: [] };
  const last = treatment === 'move' ? turns.findLastIndex(({ role }) => role !== 'assistant') : -1;
  const taker = turns[last];
  const how = taker === undefined ? 'dropped' : 'moved';
  const moved =
    taker === undefined
      ? turns
      : turns.with(last, {
          ...taker,
          content: behind(
            taker.content,
            found.map(({ line }) => line),
          ),
        });
  return {
    prompt: { ...prompt, turns: moved },
    rewritten: found.map(({ name }) => ({ name, how })),
  };
}

const behind = (content: string, lines: readonly string[]): string =>
  [...(content === '' ? [] : [content]), lines.join('\n')].join('\n\n');

/** Precedes a conversation without a system turn of its own; the response names it as rewritten. */
export function withSystem({ prompt, rewritten }: RewrittenPrompt, system: string | null): RewrittenPrompt {
  if (system === null || prompt.kind !== 'chat' || prompt.turns.some(({ role }) => role === 'system'))
    return { prompt, rewritten };
  return {
    prompt: { ...prompt, turns: [{ role: 'system', content: system }, ...prompt.turns] },
    rewritten: [...rewritten, { name: 'system', how: 'added' }],
  };
}
