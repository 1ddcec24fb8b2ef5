/** The system prompt that the user of a model set for it. */
import type { RewrittenPrompt } from './volatile-lines.ts';

/** Precedes a conversation without a system turn of its own; the response names it as rewritten. */
export function withSystem({ prompt, rewritten }: RewrittenPrompt, system: string | null): RewrittenPrompt {
  if (system === null || prompt.kind !== 'chat' || prompt.turns.some(({ role }) => role === 'system'))
    return { prompt, rewritten };
  return {
    prompt: { ...prompt, turns: [{ role: 'system', content: system }, ...prompt.turns] },
    rewritten: [...rewritten, { name: 'system', how: 'added' }],
  };
}
