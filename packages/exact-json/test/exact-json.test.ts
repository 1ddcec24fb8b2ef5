import { describe, expect, it } from 'vitest';
import { compareExact, exactKey, exactNumber, isExactInteger, isExactMultiple } from '../src/exact-number.ts';
import { parseSpelled } from '../src/parse-spelled.ts';
import { keepSpellings, writeJson } from '../src/spelled-numbers.ts';

describe('a value', () => {
  const text = '{"id":1234567890123456789,"price":1.0,"list":[1e22,-0,0.5]}';

  it('is written with its numbers as they were spelled', () => {
    expect(writeJson(parseSpelled(text))).toBe(text);
    expect(parseSpelled(text)).toEqual(JSON.parse(text));
  });

  it('loses the spellings in a copy that does not keep them', () => {
    const value = parseSpelled(text) as object;
    expect(writeJson({ ...value })).toContain('"price":1,');
    expect(writeJson(keepSpellings({ ...value }, value))).toBe(text);
  });

  it('is refused as JSON.parse refuses it', () => {
    expect(() => parseSpelled('{"a": 01}')).toThrow(SyntaxError);
  });
});

describe('numbers', () => {
  it('are compared by all their digits', () => {
    const ordered = ['-1e300', '-0.1', '0', '1234567890123456788', '1234567890123456789', '1e19'].map(
      exactNumber,
    );
    const shuffled = ordered.toReversed();
    expect(shuffled.toSorted(compareExact)).toEqual(ordered);
    expect(exactKey(exactNumber('1.50e1'))).toBe(exactKey(exactNumber('15')));
  });

  it('are multiples without rounding', () => {
    const isMultiple = (value: string, step: string) =>
      isExactMultiple(exactNumber(value), exactNumber(step));
    expect(isMultiple('0.3', '0.1')).toBe(true);
    expect(isMultiple('12345678901234567890.3', '0.1')).toBe(true);
    expect(isMultiple('0.35', '0.1')).toBe(false);
    expect(isExactInteger(exactNumber('1e3'))).toBe(true);
    expect(isExactInteger(exactNumber('1.5'))).toBe(false);
  });
});
