import { describe, expect, it } from 'vitest';
import { writeJson } from '../../../../exact-json/src/spelled-numbers.ts';
import { parseLoose } from './loose-values.ts';

const DIGITS = '9087654321012345678';

describe('a number that JSON spells in another way', () => {
  it.each([
    [`${DIGITS}.`, `${DIGITS}.0`],
    [`-${DIGITS}.`, `-${DIGITS}.0`],
    [`00${DIGITS}`, DIGITS],
    [`.${DIGITS}`, `0.${DIGITS}`],
    [`-.${DIGITS}e5`, `-0.${DIGITS}e5`],
    [`${DIGITS}.e2`, `${DIGITS}.0e2`],
    [DIGITS, DIGITS],
    ['007', '7'],
    ['000', '0'],
    ['5.', '5.0'],
    ['1e22', '1e22'],
  ])('%s keeps its digits', (text, json) => {
    expect(writeJson(parseLoose(`[${text}, {'a': ${text}}]`))).toBe(`[${json},{"a":${json}}]`);
  });

  it.each(['1.2.3', '.', '-', '1e', '--1', '+1'])('%s is no number', (text) => {
    expect(parseLoose(text)).toBeUndefined();
  });
});
