/** A longer text is assumed to be as dense as its beginning. */
const SAMPLE_CHARS = 20_000;
const CHARS_PER_WORD_PART = 5;

/** Words are a token or two; figures and signs, as in logs, take one each. */
export function guessTokens(text: string): number {
  const sample = text.slice(0, SAMPLE_CHARS);
  let tokens = 0;
  for (const [part] of sample.matchAll(/[\p{Script=Latin}]+|\p{L}|\p{N}|[^\s\p{L}\p{N}]|\n/gu))
    tokens += Math.ceil(part.length / CHARS_PER_WORD_PART);
  return Math.round(sample === '' ? 0 : (tokens * text.length) / sample.length);
}
