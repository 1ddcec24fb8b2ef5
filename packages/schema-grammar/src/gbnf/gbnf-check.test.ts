import { describe, expect, it } from 'vitest';
import { checkClientGbnf, renameRoot } from './gbnf-check.ts';

const problemOf = (gbnf: string) => {
  try {
    checkClientGbnf(gbnf);
  } catch (error) {
    return (error as Error).message;
  }
  return null;
};

describe('a grammar of a client', () => {
  it.each([
    'root ::= "yes" | "no"',
    'root ::= item (", " item)*\nitem ::= [a-z]+ # words\n',
    'root ::= "a"{2,5} [^\\n]? .\n',
    'root ::= (\n  "x" |\n  "y"\n) "z"',
    'root ::= expr\nexpr ::= term ("+" term)*\nterm ::= [0-9]+ | "(" expr ")"',
  ])('may be %j', (gbnf) => {
    expect(problemOf(gbnf)).toBeNull();
  });

  it.each([
    ['an empty text', '', 'no rule "root"'],
    ['no root', 'x ::= "a"', 'no rule "root"'],
    ['an undefined rule', 'root ::= item', '"item" is not defined'],
    ['left recursion', 'root ::= root "a" | "b"', 'left recursion'],
    ['left recursion behind an empty rule', 'root ::= e root "a" | "b"\ne ::= "x"?', 'left recursion'],
    ['mutual left recursion', 'root ::= a\na ::= b "x" | "y"\nb ::= a', 'left recursion'],
    ['no finite text', 'root ::= "a" root', 'can never terminate'],
    ['an endless repetition of nothing', 'root ::= ("a"?)*', 'repeated without limit'],
    ['too many copies', 'root ::= "a"{2000}', 'exceeds 1999 copies'],
    ['copies of copies', `root ::= ${'('.repeat(4)}"a"${'){99}'.repeat(4)}`, 'expand to too many elements'],
    ['starts that double', doubling(24), 'too many possible beginnings'],
    ['deep groups', `root ::= ${'('.repeat(100)}"a"${')'.repeat(100)}`, 'nested too deeply'],
    ['repetitions of repetitions', `root ::= "a"${'?'.repeat(30_000)}`, 'stacked too deeply'],
    ['rules that begin with each other without end', chain(2_500), 'nested too deeply'],
    [
      'groups that begin with each other without end',
      chain(200, '((((((((((', '))))))))))'),
      'nested too deeply',
    ],
    ['token references', 'root ::= <[42]>', 'token references'],
    ['named tokens', 'root ::= !<think>', 'token references'],
    ['an open literal', 'root ::= "a', 'not closed'],
    ['an unknown escape', 'root ::= "\\q"', 'escape'],
    ['rubbish', 'root ::= }{', 'new line is expected'],
    ['too much text', `root ::= "${'a'.repeat(70_000)}"`, 'at most'],
  ])('may not have %s', (_, gbnf, problem) => {
    expect(problemOf(gbnf)).toContain(problem);
  });

  it('may have rules that begin with each other, deeper than a stack reaches', () => {
    expect(problemOf(chain(900, '(', ')'))).toBeNull();
  });

  it('can become a part of a larger grammar', () => {
    const gbnf = 'root ::= "root" | "(" root ")"\n';
    expect(renameRoot(gbnf, checkClientGbnf(gbnf), 'inner')).toBe('inner ::= "root" | "(" inner ")"\n');
  });
});

function chain(length: number, open = '', close = ''): string {
  const rules = Array.from({ length }, (_, i) => `r${i} ::= "b" | ${open}r${i + 1}${close}`);
  return [`root ::= r0`, ...rules, `r${length} ::= "a"`].join('\n');
}

/** Each rule may be empty and holds the one before twice: 2^depth ways to begin. */
function doubling(depth: number): string {
  const rules = Array.from({ length: depth }, (_, i) => `r${i + 1} ::= r${i} r${i}`);
  return ['r0 ::= "a"?', ...rules, `root ::= r${depth}`].join('\n');
}

describe('a grammar that no token can satisfy', () => {
  it.each([
    ['"a\\x00b"', 'U+0000'],
    ['[\\x00]', 'U+0000'],
    ['[^\\x00-\\U0010FFFF]', 'no token spells'],
    ['"\\uD800"', '\\uD800'],
    ['[\\uD800-\\uDFFF]', '\\uD800'],
    ['[^\\x01-\\U0010FFFF]', 'no token spells'],
    ['"a" [\\uDC00]', '\\uDC00'],
    ['"\\U00110000"', '\\U00110000'],
    ['[a-\\U00110000]', '\\U00110000'],
  ])('is refused by its character: root ::= %s', (body, named) => {
    expect(() => checkClientGbnf(`root ::= ${body}\n`)).toThrow(named);
  });
});
