/** From the texts of an embed job to the token runs to compute: identical texts once, the longest first. */
import type { EmbedJob } from '../../contract/job.ts';
import { fail } from '../../lib/errors/svc-error.ts';
import type { Vocabulary } from '../prompt/vocabulary.ts';

export interface EmbedInput {
  readonly tokens: Uint32Array;
  readonly truncated: boolean;
  /** Every place in the job where this text stands. */
  readonly indexes: readonly number[];
}

export function embedInputs(vocabulary: Vocabulary, job: EmbedJob, limit: number): EmbedInput[] {
  const inputs = [...placesOf(job.inputs)].map(([text, indexes]) => {
    const all = inputTokens(vocabulary, text);
    const index = indexes[0] ?? 0;
    const param = `input[${index}]`;
    if (all.length === 0) throw fail('input_unreadable', { param, index });
    if (all.length > limit && !job.truncate)
      throw fail('input_too_long', { param, index, tokens: all.length, limit });

    return { tokens: cut(all, limit, vocabulary), truncated: all.length > limit, indexes };
  });
  // Inputs of like length fit a step best, and what is computed alone does not come last.
  return inputs.sort((a, b) => b.tokens.length - a.tokens.length);
}

/** Every place of each text. */
export function placesOf(texts: readonly string[]): Map<string, number[]> {
  const places = new Map<string, number[]>();
  for (const [index, text] of texts.entries()) {
    const known = places.get(text);
    if (known === undefined) places.set(text, [index]);
    else known.push(index);
  }
  return places;
}

function inputTokens(vocabulary: Vocabulary, text: string): Uint32Array {
  // Client text never turns into control tokens, here as little as in a prompt.
  const body = vocabulary.tokenize(text, false);
  const { prependToken, appendToken } = vocabulary;
  const first = prependToken === null ? [] : [prependToken];
  const last = appendToken === null ? [] : [appendToken];
  return Uint32Array.from([...first, ...body, ...last]);
}

/** The model's own last token stays the last. */
function cut(tokens: Uint32Array, limit: number, vocabulary: Vocabulary): Uint32Array {
  if (tokens.length <= limit) return tokens;
  const kept = tokens.slice(0, limit);
  if (vocabulary.appendToken !== null) kept[limit - 1] = vocabulary.appendToken;
  return kept;
}
