import { queryObjects } from 'node:v8';
import { describe, expect, it } from 'vitest';
import { PackedTexts } from './packed-texts.ts';
import { TokenGrammars } from './token-grammar.ts';

const END = 0;

/** A vocabulary of these texts behind the token that ends an answer. */
function vocabulary(texts: readonly (string | Uint8Array)[]): PackedTexts {
  const packed = new PackedTexts(texts.length + 1);
  packed.add(END, new Uint8Array(), true);
  for (const [index, text] of texts.entries())
    packed.add(index + 1, typeof text === 'string' ? Buffer.from(text) : text, false);
  return packed;
}

const texts = [
  'a',
  'b',
  'ab',
  'aa',
  '"',
  'é',
  Uint8Array.of(0xc3),
  Uint8Array.of(0xa9),
  Uint8Array.of(0xe2, 0x82),
];
const tokenOf = (text: string) => texts.indexOf(text) + 1;
const [FIRST_HALF, SECOND_HALF, EURO_BEGINS] = [7, 8, 9];

function open(gbnf: string) {
  const grammar = new TokenGrammars(vocabulary(texts)).open(gbnf);
  const allowed = () => [...grammar.allowed()].flatMap((one, token) => (one === 1 ? [token] : []));
  return { grammar, allowed };
}

describe('a grammar over tokens', () => {
  it('allows the tokens whose text may come next, and the end where the text may end', () => {
    const { grammar, allowed } = open('root ::= "a" "b"?');
    expect(allowed()).toEqual(['a', 'ab'].map(tokenOf));
    grammar.accept(tokenOf('a'));
    expect(allowed()).toEqual([END, tokenOf('b')]);
    grammar.accept(tokenOf('b'));
    expect(allowed()).toEqual([END]);
  });

  it('follows a character over the tokens that spell it', () => {
    const { grammar, allowed } = open('root ::= "é" "a"');
    expect(allowed()).toEqual([tokenOf('é'), FIRST_HALF]);
    grammar.accept(FIRST_HALF);
    expect(allowed()).toEqual([SECOND_HALF]);
    grammar.accept(SECOND_HALF);
    expect(allowed()).toEqual([tokenOf('a')]);
  });

  it('allows the begin of a character only if one that begins so may come', () => {
    expect(open('root ::= [€]').allowed()).toEqual([EURO_BEGINS]);
    expect(open('root ::= [\\U00002000-\\U0000203F]').allowed()).toEqual([]);
  });

  it('says the same of one token and of all', () => {
    for (const gbnf of ['root ::= [a-bé]+', 'root ::= "a" root "b" | ""', 'root ::= [^a]{1,2}']) {
      const { grammar, allowed } = open(gbnf);
      const all = texts.map((_, index) => index + 1).concat(END);
      expect(allowed()).toEqual(all.filter((token) => grammar.isAllowed(token)).sort((a, b) => a - b));
    }
  });
});

describe('grammars that are kept', () => {
  const [first, second] = ['root ::= "a" "b"?', 'root ::= "b" "a"?'];
  // What may come next is the same array as long as its grammar is kept.
  const opened = (limits: object) => {
    const roomy = { grammars: 16, chars: 1_000, fill: 1, maskBytes: 1_000 };
    const grammars = new TokenGrammars(vocabulary(texts), { ...roomy, ...limits });
    const allowed = (gbnf: string) => grammars.open(gbnf).allowed();
    allowed(first);
    const before = allowed(second);
    allowed(first);
    return allowed(second) === before;
  };

  it.each<[string, object, boolean]>([
    ['room for both', {}, true],
    ['one grammar', { grammars: 1 }, false],
    ['the characters of one', { chars: first.length }, false],
    ['the states of less than two', { fill: 7 / 200_000 }, false],
    ['the bytes of one mask', { maskBytes: texts.length + 1 }, false],
  ])('%s', (_what, limits, isKept) => {
    expect(opened(limits)).toBe(isKept);
  });
});

/** Counting objects collects the garbage first. */
function heapBytes(): number {
  queryObjects(Array, { format: 'count' });
  return process.memoryUsage().heapUsed;
}

describe('a grammar that needs too much work', () => {
  const bomb = 'root ::= x{200}\nx ::= "a"{0,60}';

  it('ends its own answer, and is refused from then on', () => {
    const grammars = new TokenGrammars(vocabulary(texts));
    const grammar = grammars.open(bomb);
    const write = () => {
      for (let token = 0; token < 2_000; token += 1) grammar.accept(tokenOf('aa'));
    };
    expect(write).toThrow('too ambiguous');
    expect(() => grammars.open(bomb)).toThrow('too ambiguous');
    expect(grammars.open('root ::= "a"').isAllowed(tokenOf('a'))).toBe(true);
  });

  it('leaves its digest and not its text in memory', () => {
    const grammars = new TokenGrammars(vocabulary(texts));
    const write = (comment: string) => {
      const grammar = grammars.open(`${bomb}\n# ${comment}`);
      for (;;) grammar.accept(tokenOf('aa'));
    };
    expect(() => write('')).toThrow('too ambiguous');
    const before = heapBytes();
    expect(() => write('x'.repeat(8_000_000))).toThrow('too ambiguous');
    // Regular expressions hold their last text.
    grammars.open('root ::= "a"');
    expect(heapBytes() - before).toBeLessThan(5_000_000);
  });

  it('is not one whose stacks would double', () => {
    const grammar = new TokenGrammars(vocabulary(texts)).open('root ::= "a" root "b" | "a" root "c" | "a"');
    for (let token = 0; token < 1_000; token += 1) grammar.accept(tokenOf('aa'));
    expect(grammar.isAllowed(tokenOf('b'))).toBe(true);
  });
});
