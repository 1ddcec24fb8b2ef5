import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { StopStrings } from './stop-strings.ts';

/** Reads the whole text character by character; slow and plainly right. */
function reference(text: string, stops: readonly string[]): { text: string; stop: string | null } {
  for (let end = 1; end <= text.length; end += 1) {
    const matching = stops.filter((stop) => text.slice(0, end).endsWith(stop));
    const longest = matching.toSorted((a, b) => b.length - a.length)[0];
    if (longest !== undefined) return { text: text.slice(0, end - longest.length), stop: longest };
  }
  return { text, stop: null };
}

function feed(pieces: readonly string[], stops: readonly string[]): { text: string; stop: string | null } {
  const scanner = new StopStrings(stops);
  let text = '';
  for (const piece of pieces) {
    const scan = scanner.push(piece);
    text += scan.text;
    if (scan.stop !== null) return { text, stop: scan.stop };
  }
  return { text: text + scanner.end(), stop: null };
}

const letters = fc.constantFrom('a', 'b', 'c');
const word = fc.array(letters, { minLength: 1, maxLength: 4 }).map((parts) => parts.join(''));

describe('stop strings', () => {
  it('agree with a character-by-character reference however the text is cut', () => {
    fc.assert(
      fc.property(fc.array(word, { maxLength: 12 }), fc.array(word, { maxLength: 4 }), (pieces, stops) => {
        expect(feed(pieces, stops)).toEqual(reference(pieces.join(''), stops));
      }),
      { numRuns: 3000 },
    );
  });

  it('release nothing that could still be part of a stop string', () => {
    const scanner = new StopStrings(['END']);
    expect(scanner.push('so far E')).toEqual({ text: 'so far ', stop: null });
    expect(scanner.push('N')).toEqual({ text: '', stop: null });
    expect(scanner.push('X')).toEqual({ text: 'ENX', stop: null });
    expect(scanner.push('...EN')).toEqual({ text: '...', stop: null });
    expect(scanner.push('D more')).toEqual({ text: '', stop: 'END' });
    expect(scanner.push('ignored')).toEqual({ text: '', stop: null });
  });
});
