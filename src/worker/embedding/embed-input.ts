/** Converts the texts of an embed job to token runs: identical texts once, the longest first. */
import type { EmbedJob, TextOrIds } from '../../contract/job.ts';
import { fail } from '../../lib/errors/svc-error.ts';
import type { Vocabulary } from '../prompt/vocabulary.ts';
import { textOfTokens } from '../prompt/vocabulary-jobs.ts';

export interface EmbedInput {
  readonly tokens: Uint32Array;
  readonly truncated: boolean;
  readonly indexes: readonly number[];
}

export function embedInputs(vocabulary: Vocabulary, job: EmbedJob, limit: number): EmbedInput[] {
  if (job.trustsTokenIds !== true) requireOwnIds(vocabulary, job.inputs);
  const inputs = [...groupPlaces(job.inputs)].map(([input, indexes]) => {
    checkRange(vocabulary, input, indexes[0] ?? 0);
    const all = inputTokens(vocabulary, input);
    const index = indexes[0] ?? 0;
    const param = `input[${index}]`;
    if (all.length === 0) throw fail('input_unreadable', { param, index });
    if (all.length > limit && !job.truncate)
      throw fail('input_too_long', { param, index, tokens: all.length, limit });

    return { tokens: cut(all, limit, vocabulary), truncated: all.length > limit, indexes };
  });
  // Inputs of similar length fit a step best, and long ones, each computed alone, do not come last.
  return inputs.sort((a, b) => b.tokens.length - a.tokens.length);
}

export function groupPlaces<Input>(inputs: readonly Input[]): Map<Input, number[]> {
  const places = new Map<Input, number[]>();
  for (const [index, input] of inputs.entries()) {
    const known = places.get(input);
    if (known === undefined) places.set(input, [index]);
    else known.push(index);
  }
  return places;
}

function inputTokens(vocabulary: Vocabulary, input: TextOrIds): Uint32Array {
  // Client text never becomes a control token, as in prompts.
  const body = typeof input === 'string' ? vocabulary.tokenize(input, false) : innerTokens(vocabulary, input);
  const { prependToken, appendToken } = vocabulary;
  const first = prependToken === null ? [] : [prependToken];
  const last = appendToken === null ? [] : [appendToken];
  return Uint32Array.from([...first, ...body, ...last]);
}

/** Ids without the model's first and last token, which tokenisers add only on request. */
function innerTokens({ prependToken, appendToken }: Vocabulary, ids: readonly number[]): readonly number[] {
  const from = prependToken !== null && ids[0] === prependToken ? 1 : 0;
  const isClosed = appendToken !== null && ids.length > from && ids.at(-1) === appendToken;
  return ids.slice(from, isClosed ? -1 : undefined);
}

/** This number of ids of another vocabulary hardly ever decodes to a text that this one encodes as the same ids. */
const DISTINCTIVE_IDS = 16;

/** Ids do not name their vocabulary, and the vector of foreign ids looks like any other. */
function requireOwnIds(vocabulary: Vocabulary, inputs: readonly TextOrIds[]): void {
  let count = 0;
  let last: { readonly index: number; readonly length: number } | null = null;
  for (const [index, input] of inputs.entries()) {
    if (typeof input === 'string') continue;
    checkRange(vocabulary, input, index);
    const body = innerTokens(vocabulary, input);
    const again = vocabulary.tokenize(textOfTokens(vocabulary, body), false);
    if (again.length !== body.length || body.some((id, at) => id !== again[at]))
      throw refusedIds('foreign', index, input);
    count += body.length;
    last = { index, length: input.length };
  }
  if (last !== null && count < DISTINCTIVE_IDS) throw refusedIds('few', last.index, last);
}

function checkRange({ size }: Vocabulary, input: TextOrIds, index: number): void {
  const token = typeof input === 'string' ? undefined : input.find((id) => id >= size);
  if (token !== undefined) throw refusedIds('range', index, { length: input.length, token, size });
}

function refusedIds(
  reason: 'range' | 'foreign' | 'few',
  index: number,
  { length, token, size }: { readonly length: number; readonly token?: number; readonly size?: number },
): Error {
  const beyond = token === undefined || size === undefined ? {} : { token, size };
  return fail('token_ids_refused', { param: `input[${index}]`, index, reason, tokens: length, ...beyond });
}

function cut(tokens: Uint32Array, limit: number, vocabulary: Vocabulary): Uint32Array {
  if (tokens.length <= limit) return tokens;
  const kept = tokens.slice(0, limit);
  if (vocabulary.appendToken !== null) kept[limit - 1] = vocabulary.appendToken;
  return kept;
}
