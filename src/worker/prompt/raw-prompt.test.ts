import { expect, it } from 'vitest';
import { rawPrompt } from './raw-prompt.ts';
import type { Vocabulary } from './vocabulary.ts';

const FIRST = 1;

/** A character is a token, and `<s>` the one that the model expects first. */
const vocabulary = {
  size: 1_000,
  prependToken: FIRST,
  tokenize: (text: string, controls: boolean) =>
    Uint32Array.from(
      text
        .split(controls ? /(<s>)/ : /$^/)
        .flatMap((part) => (part === '<s>' ? [FIRST] : [...Buffer.from(part)])),
    ),
  tokenBytes: (token: number) => Uint8Array.of(token),
  controlText: (token: number) => (token === FIRST ? '<s>' : null),
} as Partial<Vocabulary> as Vocabulary;

it.each([
  ['a text', ['a', [5]], [FIRST, 97, 5]],
  ['a text that begins with it', ['<s>a', [5]], [FIRST, 97, 5]],
  ['a text without words, and tokens that begin with it', ['', [FIRST, 5]], [FIRST, 5]],
  ['tokens', [[5], 'a'], [5, 97]],
])('the token that the model expects first stands once before %s', (_, parts, tokens) => {
  const prompt = { kind: 'mixed' as const, parts, readsMarks: true };
  expect([...rawPrompt(vocabulary, prompt).tokens]).toEqual(tokens);
});
