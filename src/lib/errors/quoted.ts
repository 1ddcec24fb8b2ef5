/** Text of users in a sentence: unchanged where that is plain, as JSON where a character would hide or end it. */
export const quoted = (text: string): string =>
  /^[^"\p{C}\p{Zl}\p{Zp}]*$/u.test(text) ? `"${text}"` : JSON.stringify(text);
