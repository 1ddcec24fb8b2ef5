/** Default token limit of models that cannot end an answer: without it, they repeat a line until the window is full. */
import { BASE_MODEL_TOKENS, CHOSEN_TEMPLATE_TOKENS } from '../../contract/limits.ts';
import { memoizeByObject } from '../../lib/base/memoize-by-object.ts';
import { isSvcError } from '../../lib/errors/svc-error.ts';
import { probeTemplate, type PromptWriter } from './prompt.ts';

const ANSWER = 'ANSWER7401';
const NEXT = 'QUESTION7402';

export function unlimitedTokens(writer: PromptWriter): number | null {
  return withoutEndToken(writer) ?? (endsTurns(writer) ? null : CHOSEN_TEMPLATE_TOKENS);
}

export function withoutEndToken({ vocabulary }: Pick<PromptWriter, 'vocabulary'>): number | null {
  return vocabulary.endTokens.length === 0 ? BASE_MODEL_TOKENS : null;
}

/** Whether the template ends past answers with an end token, or with a text that ends this one. */
const endsTurns = memoizeByObject((writer: PromptWriter): boolean => {
  const { template, vocabulary } = writer;
  if (template.stops.length > 0) return true;
  const turns = [
    { role: 'user', content: 'question' },
    { role: 'assistant', content: ANSWER },
    { role: 'user', content: NEXT },
  ] as const;
  try {
    const [, behind] = probeTemplate(writer, { turns }).split(ANSWER);
    if (behind === undefined) return true;
    const end = behind.split(NEXT)[0] ?? '';
    return vocabulary.tokenizeNext(end).some((token) => vocabulary.isEnd(token));
  } catch (error) {
    // A template without past answers shows no end of them either.
    if (isSvcError(error)) return true;
    throw error;
  }
});
