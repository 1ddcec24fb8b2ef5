import type { Prompt } from '../../contract/job.ts';
import { fail } from '../../lib/errors/svc-error.ts';
import type { PromptPiece } from './guard.ts';
import { tokenizePieces } from './prompt.ts';
import { joinTokens } from './prompt-tokens.ts';
import { checkTokens, textOfTokens } from './vocabulary-jobs.ts';
import type { GapTokens, Vocabulary } from './vocabulary.ts';

export interface RawPrompt {
  readonly pieces: readonly PromptPiece[];
  readonly tokens: Uint32Array;
}

type Raw = Exclude<Prompt, { kind: 'chat' }>;

export function rawPrompt(vocabulary: Vocabulary, prompt: Raw): RawPrompt {
  if (prompt.kind === 'tokens') {
    checkTokens(vocabulary, prompt.tokens, 'prompt');
    return asRead(vocabulary, prompt.tokens);
  }
  if (prompt.kind === 'mixed') return asRead(vocabulary, [...mixedTokens(vocabulary, prompt)]);
  const { text, suffix, readsMarks = false } = prompt;
  if (suffix !== undefined) return asRead(vocabulary, gapTokens(vocabulary, { ...prompt, suffix }));
  const pieces = text === '' ? [] : [{ text, plain: !readsMarks, continues: false }];
  return { pieces, tokens: tokenizePieces(vocabulary, pieces) };
}

export function rawTexts(prompt: Raw): string[] {
  if (prompt.kind === 'tokens') return [];
  if (prompt.kind === 'mixed') return prompt.parts.filter((part) => typeof part === 'string');
  return [
    prompt.text,
    prompt.suffix ?? '',
    ...(prompt.files ?? []).flatMap(({ name, text }) => [name, text]),
  ];
}

function asRead(vocabulary: Vocabulary, tokens: readonly number[]): RawPrompt {
  const text = textOfTokens(vocabulary, tokens);
  return { pieces: [{ text, plain: true, continues: false }], tokens: Uint32Array.from(tokens) };
}

/** If a text comes first, the model's own first token precedes it. */
function mixedTokens(
  vocabulary: Vocabulary,
  { parts, readsMarks = false }: Extract<Prompt, { kind: 'mixed' }>,
): Uint32Array {
  const runs = parts.map((part, index) => {
    if (typeof part === 'string') return vocabulary.tokenize(part, readsMarks);
    checkTokens(vocabulary, part, `prompt[${index}]`);
    return Uint32Array.from(part);
  });
  return joinTokens(typeof parts[0] === 'string' ? vocabulary : { prependToken: null }, runs);
}

type TextAroundGap = Extract<Prompt, { kind: 'text' }> & { readonly suffix: string };

function gapTokens(vocabulary: Vocabulary, { text, suffix, files = [] }: TextAroundGap): number[] {
  const gap = requireGap(vocabulary);
  const read = (words: string): number[] => (words === '' ? [] : [...vocabulary.tokenize(words, false)]);
  const opening = vocabulary.prependToken === null ? [] : [vocabulary.prependToken];
  const before = files.length === 0 ? [] : fileTokens(gap, files, read);
  return [...opening, ...before, gap.prefix, ...read(text), gap.suffix, ...read(suffix), gap.middle];
}

/** In the training format of code models; as snippets if the vocabulary has no marks for it. */
function fileTokens(
  { repository, file }: GapTokens,
  files: readonly { readonly name: string; readonly text: string }[],
  read: (words: string) => number[],
): number[] {
  if (file === null) return files.flatMap(({ text }) => read(`\n\n--- snippet ---\n\n${text}`));
  const named = files.flatMap(({ name, text }) => [file, ...read(`${name}\n${text}`)]);
  // The text around the gap is a file as well.
  const own = [file, ...read('filename\n')];
  return [...(repository === null ? [] : [repository, ...read('project\n')]), ...named, ...own];
}

function requireGap({ gap }: Vocabulary): GapTokens {
  if (gap !== null) return gap;
  throw fail('invalid_request', {
    param: 'suffix',
    message:
      'The vocabulary of this model has no tokens for text before and behind a gap; send the text before it alone to POST /v1/completions, or choose a model that was trained to fill in.',
  });
}
