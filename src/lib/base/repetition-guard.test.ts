import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { REPETITION_LIMIT, RepetitionGuard } from './repetition-guard.ts';

/** How many tokens were written when the guard ended the answer, or null. */
function endOf(answer: readonly number[], limit = REPETITION_LIMIT, textOf = words): number | null {
  const tokens: number[] = [];
  const guard = new RepetitionGuard(limit, tokens, textOf);
  for (const token of answer) {
    tokens.push(token);
    guard.note();
    if (guard.isOver) return tokens.length;
  }
  return null;
}

/** Of tokens that are numbers only here. */
const words = (_tokens: readonly number[]): string => 'word';
/** A text whose tokens are its characters, spaces and line breaks as many as there are together. */
const endOfText = (text: string): number | null => {
  const pieces = text.match(/[^\S\n]+|\n+|\S/g) ?? [];
  const known = [...new Set(pieces)];
  const ids = pieces.map((piece) => known.indexOf(piece));
  return endOf(ids, REPETITION_LIMIT, (tokens) => tokens.map((token) => known[token] ?? '').join(''));
};

const fresh = (count: number, from = 1_000): number[] => Array.from({ length: count }, (_, at) => from + at);
const times = (count: number, block: readonly number[]): number[] =>
  Array.from({ length: count }, () => block).flat();

/** Words and what is between them stand for tokens: real ones are longer or as long. */
function wordsOf(text: string): number[] {
  const ids = new Map<string, number>();
  return (text.match(/\w+|[^\w\n]|\n+/g) ?? []).map((word) => {
    const id = ids.get(word) ?? ids.size;
    ids.set(word, id);
    return id;
  });
}

describe('an answer that repeats itself exactly', () => {
  it.each([1, 2, 3, 7, 10, 16, 20, 25, 32])('is ended within 300 repeated tokens: blocks of %d', (period) => {
    const begin = fresh(400, 100_000);
    const end = endOf([...begin, ...times(1_000, fresh(period))]);
    expect(end).not.toBeNull();
    expect((end ?? 0) - begin.length - period).toBeLessThanOrEqual(300);
  });

  it.each([200, 700])('is ended after the fourth copy when blocks have %d tokens', (period) => {
    const end = endOf(times(20, fresh(period))) ?? Infinity;
    expect(end).toBeGreaterThan(3 * period);
    expect(end).toBeLessThanOrEqual(4 * period + 32);
  });

  it('is ended where a token differs now and then', () => {
    const drifting = Array.from({ length: 60 }, (_, at) => [...fresh(99), 5_000 + at]).flat();
    expect(endOf(drifting)).not.toBeNull();
  });

  it('is found whatever came before', () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(50_000), { maxLength: 600 }),
        fc.array(fc.nat(50_000), { minLength: 1, maxLength: 40 }),
        (begin, block) => endOf([...begin, ...times(400, block)]) !== null,
      ),
    );
  });
});

describe('numbers', () => {
  it.each([
    ['an array of zeros', `float zeros[] = { ${'0, '.repeat(160)}};`],
    ['rows of flags', `bool flags[] = {\n${'    1, 0, 0, 0,\n'.repeat(40)}};`],
    ['a matrix', `${'1 0 0\n0 1 0\n0 0 1\n'.repeat(20)}end`],
  ])('go on longer than words: %s', (_, text) => {
    expect(endOfText(text)).toBeNull();
  });

  it.each([
    ['words', 'x = 10; '.repeat(200)],
    ['lines without anything', `a${' \n'.repeat(300)}`],
    ['signs', '- '.repeat(300)],
  ])('are no %s, which end as early as ever', (_, text) => {
    expect(endOfText(text)).toBeLessThanOrEqual(300);
  });

  it('end all the same', () => {
    expect(endOfText('0, '.repeat(2_000))).toBeLessThanOrEqual(1_100);
    expect(endOfText('1, 0, 0, 2,\n'.repeat(2_000))).toBeLessThanOrEqual(1_100);
  });
});

describe('what goes on', () => {
  it.each([
    ['three copies of a long text', times(3, fresh(900))],
    [
      'rows that differ in one of 20 tokens',
      Array.from({ length: 500 }, (_, at) => [...fresh(19), 5_000 + at]).flat(),
    ],
    [
      'rows that differ in one of 50 tokens',
      Array.from({ length: 200 }, (_, at) => [...fresh(49), 5_000 + at]).flat(),
    ],
    ['a hundred zeros with commas', [...fresh(30, 100), ...times(100, [1, 2]), ...fresh(30, 300)]],
    ['a line of 150 dashes', times(150, [9])],
    ['new tokens only', fresh(100_000)],
  ])('%s', (_, answer) => {
    expect(endOf(answer)).toBeNull();
  });

  it('blocks of 300 tokens between others', () => {
    const blocks = Array.from({ length: 60 }, (_, at) => [
      ...fresh(300),
      ...fresh(1 + (at % 7), 9_000 + 10 * at),
    ]);
    expect(endOf(blocks.flat())).toBeNull();
  });

  it('random tokens, however many', () => {
    let state = 1;
    const random = Array.from(
      { length: 300_000 },
      () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) >>> 8,
    );
    expect(endOf(random)).toBeNull();
  });

  it('the texts, tables, programs and data of this repository', () => {
    const root = path.resolve(import.meta.dirname, '../../..');
    const files = [
      '.',
      'docs',
      'docs/decisions',
      'src/contract',
      'src/worker/batch/stream',
      'test/fixtures',
      'training/eval',
    ]
      .filter((folder) => readable(path.join(root, folder)))
      .flatMap((folder) => readdirSync(path.join(root, folder)).map((name) => path.join(root, folder, name)))
      .filter(
        (file) => /\.(md|ts|json|jsonl|csv|gbnf)$|LICENSE$/.test(file) && !file.endsWith('package-lock.json'),
      );
    expect(files.length).toBeGreaterThan(100);
    const ended = files.filter((file) => endOf(wordsOf(readFileSync(file, 'utf8'))) !== null);
    expect(ended).toEqual([]);
  });
});

describe('another choice before the end', () => {
  /** A model that goes on with its block unless another token was chosen; then it writes something new. */
  function writes(block: readonly number[], escapes: boolean): { tokens: number[]; nudges: number } {
    const tokens: number[] = [];
    const guard = new RepetitionGuard(REPETITION_LIMIT, tokens, words);
    let next = 0;
    let escaped = false;
    while (!guard.isOver && tokens.length < 5_000) {
      const wanted = escaped ? 10_000 + tokens.length : (block[next % block.length] ?? 0);
      const isNudged = wanted === guard.avoided;
      tokens.push(isNudged ? 999_999 : wanted);
      next += 1;
      if (isNudged) guard.nudged();
      if (isNudged && escapes) escaped = true;
      guard.note();
    }
    return { tokens, nudges: guard.nudges };
  }

  it('is enough for a model that leaves the repetition then', () => {
    expect(writes([1, 2, 3, 4, 5], true)).toMatchObject({ nudges: 1, tokens: { length: 5_000 } });
  });

  it('does not delay the end of one that returns to it', () => {
    for (const period of [1, 4, 12, 20]) {
      const { tokens, nudges } = writes(fresh(period), false);
      expect(nudges).toBe(1);
      expect(tokens.length - period).toBeLessThanOrEqual(300);
    }
  });
});

function readable(folder: string): boolean {
  try {
    readdirSync(folder);
    return true;
  } catch {
    return false;
  }
}
