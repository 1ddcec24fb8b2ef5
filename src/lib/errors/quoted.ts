/** Quotes user text for a sentence: unchanged if plain, as JSON if a character would hide or end it. */
export const quoted = (text: string): string =>
  /^[^"\p{C}\p{Zl}\p{Zp}]*$/u.test(text) ? `"${text}"` : JSON.stringify(text);
