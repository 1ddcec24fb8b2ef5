/** Prompts that no template has put into a form: text, text around a gap, tokens. */
import type { Prompt } from '../../contract/job.ts';
import { fail } from '../../lib/errors/svc-error.ts';
import type { PromptPiece } from './guard.ts';
import { tokenizePieces } from './prompt.ts';
import { checkTokens, textOfTokens } from './vocabulary-jobs.ts';
import type { Vocabulary } from './vocabulary.ts';

export interface RawPrompt {
  /** As people read it. */
  readonly pieces: readonly PromptPiece[];
  readonly tokens: Uint32Array;
}

/** Throws when the vocabulary does not have what it takes. */
export function rawPrompt(vocabulary: Vocabulary, prompt: Exclude<Prompt, { kind: 'chat' }>): RawPrompt {
  if (prompt.kind === 'tokens') {
    checkTokens(vocabulary, prompt.tokens, 'prompt');
    return {
      pieces: [plainPiece(textOfTokens(vocabulary, prompt.tokens))],
      tokens: Uint32Array.from(prompt.tokens),
    };
  }
  const { text, suffix } = prompt;
  const pieces = text === '' ? [] : [plainPiece(text)];
  if (suffix === undefined) return { pieces, tokens: tokenizePieces(vocabulary, pieces) };
  const { prefix, suffix: before, middle } = gapOf(vocabulary);
  const opening = vocabulary.prependToken === null ? [] : [vocabulary.prependToken];
  const [ahead, behind] = [text, suffix].map((words) =>
    words === '' ? [] : vocabulary.tokenize(words, false),
  );
  const tokens = [...opening, prefix, ...(ahead ?? []), before, ...(behind ?? []), middle];
  return { pieces: [plainPiece(textOfTokens(vocabulary, tokens))], tokens: Uint32Array.from(tokens) };
}

const plainPiece = (text: string): PromptPiece => ({ text, plain: true, continues: false });

function gapOf({ gap }: Vocabulary): NonNullable<Vocabulary['gap']> {
  if (gap !== null) return gap;
  throw fail('invalid_request', {
    param: 'suffix',
    message:
      'The vocabulary of this model has no tokens for text before and behind a gap; leave suffix out, or choose a model that was trained to fill in.',
  });
}
