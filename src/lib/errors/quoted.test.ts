import { describe, expect, it } from 'vitest';
import { quoted } from './quoted.ts';

describe('text in a sentence', () => {
  it.each(['C:\\models\\a.gguf', 'my größe', "it's", '日本 😀', ''])('leaves %j unchanged', (text) => {
    expect(quoted(text)).toBe(`"${text}"`);
  });

  it.each(['a"b', 'line\nbreak', '\u001b[31mred', 'a\u202eb', '\ud800', 'a\u2028b'])(
    'writes %j as JSON',
    (text) => {
      expect(quoted(text)).toBe(JSON.stringify(text));
    },
  );
});
