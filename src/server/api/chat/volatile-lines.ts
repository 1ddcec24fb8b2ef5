/** Removes the lines of system prompts that would prevent a prompt cache hit. */
import type { Prompt, Turn } from '../../../contract/job.ts';
import { type VolatileTreatment, withoutVolatileLines } from '../../../lib/prompt-cache/volatile-lines.ts';

export interface Rewriting {
  readonly name: string;
  readonly how: string;
}

export interface RewrittenPrompt {
  readonly prompt: Prompt;
  readonly rewritten: readonly Rewriting[];
}

/** Reads system turns only; text of users and tools stays unchanged. */
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

/** Adds the operator's system prompt to a conversation without one; the response reports it as rewritten. */
export function withSystem({ prompt, rewritten }: RewrittenPrompt, system: string | null): RewrittenPrompt {
  if (system === null || prompt.kind !== 'chat' || prompt.turns.some(({ role }) => role === 'system'))
    return { prompt, rewritten };
  return {
    prompt: { ...prompt, turns: [{ role: 'system', content: system }, ...prompt.turns] },
    rewritten: [...rewritten, { name: 'system', how: 'added' }],
  };
}
