import { describe, expect, it } from 'vitest';
import { edits, isExpected, parseEdit, promptFor } from './corpus.ts';

const all = edits();

/** How much of the changed program stands in the original, by lines. */
function keptShare(before: string, after: string): number {
  const old = new Set(before.split('\n'));
  const lines = after.split('\n').filter((line) => line.trim() !== '');
  return lines.filter((line) => old.has(line)).length / lines.length;
}

describe('the corpus of edits', () => {
  it('has eleven edits in three languages', () => {
    expect(all).toHaveLength(11);
    expect(new Set(all.map(({ language }) => language))).toEqual(new Set(['ts', 'py', 'go']));
  });

  it.each(all)('$name changes something and keeps more than half', ({ before, after }) => {
    expect(after).not.toBe(before);
    expect(keptShare(before, after)).toBeGreaterThan(0.5);
  });
});

describe('an edit', () => {
  const first = parseEdit('a.txt', 'Say b.\n=== before.py\nprint("a")\n=== after.py\nprint("b")\n');
  const second = { ...first, name: 'c', instruction: 'Say c.', after: 'print("c")\n' };

  it('is read from its file', () => {
    expect(first).toEqual({
      name: 'a',
      instruction: 'Say b.',
      language: 'py',
      before: 'print("a")\n',
      after: 'print("b")\n',
    });
  });

  it('is refused when its parts name two languages', () => {
    expect(() => parseEdit('a.txt', 'Say b.\n=== before.py\na\n=== after.go\nb\n')).toThrow(
      'a.txt is no edit',
    );
  });

  it('is asked after an example with its answer, and alone when it is the example', () => {
    const alone = 'Instruction: Say b.\n\nBefore:\n```py\nprint("a")\n```\n\nAfter:\n```py\n';
    expect(promptFor(first, first)).toBe(alone);
    expect(promptFor(first, second)).toBe(
      `${alone.replace('Say b.', 'Say c.')}print("c")\n\`\`\`\n\n${alone}`,
    );
  });

  it('is answered by the same code, whatever blank surrounds it', () => {
    expect(isExpected(first, 'print("b")')).toBe(true);
    expect(isExpected(first, 'print("a")\n')).toBe(false);
  });
});
