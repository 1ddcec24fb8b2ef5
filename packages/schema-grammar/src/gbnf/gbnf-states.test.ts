import { describe, expect, it } from 'vitest';
import { seeded, textWriter } from '../../test/grammar-walk.ts';
import { checkGbnf } from './gbnf-check.ts';
import { gbnfProgram } from './gbnf-program.ts';
import { DEAD, GbnfStates } from './gbnf-states.ts';

function runner(gbnf: string) {
  const program = gbnfProgram(checkGbnf(gbnf));
  const states = new GbnfStates(program);
  let work = 0;
  const meter = {
    spend: (steps: number) => {
      work += steps;
    },
  };
  return {
    work: () => work,
    read(text: string): 'dead' | 'open' | 'end' {
      let state = states.start(meter);
      for (const char of text) {
        if (state === DEAD) return 'dead';
        state = states.after(state, program.findClass(char.codePointAt(0) ?? 0), meter);
      }
      if (state === DEAD) return 'dead';
      return states.accepts(state) ? 'end' : 'open';
    },
  };
}

describe('a grammar', () => {
  it.each<[string, string, 'dead' | 'open' | 'end']>([
    ['root ::= "ab" | "ac"', 'a', 'open'],
    ['root ::= "ab" | "ac"', 'ac', 'end'],
    ['root ::= "ab" | "ac"', 'ad', 'dead'],
    ['root ::= [a-c]* "x"?', '', 'end'],
    ['root ::= [^a-c\\n]+', 'xyz', 'end'],
    ['root ::= [^a-c\\n]+', 'xa', 'dead'],
    ['root ::= "a"{2,3} "b"', 'ab', 'dead'],
    ['root ::= "a"{2,3} "b"', 'aaab', 'end'],
    ['root ::= "a"{2,3} "b"', 'aaaa', 'dead'],
    ['root ::= e "z"\ne ::= "" | "(" e ")"', '((', 'open'],
    ['root ::= e "z"\ne ::= "" | "(" e ")"', '(())z', 'end'],
    ['root ::= e "z"\ne ::= "" | "(" e ")"', '(()z', 'dead'],
    ['root ::= a a a\na ::= "x"? "y"?', 'xyxyx', 'end'],
    ['root ::= a a a\na ::= "x"? "y"?', 'xyxyxyx', 'dead'],
    ['root ::= ("a" | "b" "c"){2} .', 'abcé', 'end'],
    ['root ::= "\\x41\\u0042\\U0001F600" [\\]\\-a]', 'AB😀-', 'end'],
  ])('%s reads %j to %s', (gbnf, text, outcome) => {
    expect(runner(gbnf).read(text)).toBe(outcome);
  });

  it('reads every text that it writes, and no other that differs in one character, as a slow reader does', () => {
    const random = seeded(9);
    for (let round = 0; round < 150; round += 1) {
      const gbnf = randomGrammar(random);
      const accepts = slowReader(gbnf);
      const { read } = runner(gbnf);
      const write = textWriter(gbnf, random);
      for (let sample = 0; sample < 8; sample += 1) {
        const text = write().slice(0, 12);
        const at = Math.floor(random() * (text.length + 1));
        const other = text.slice(0, at) + 'abx'[Math.floor(random() * 3)] + text.slice(at + 1);
        for (const candidate of [text, other])
          expect(read(candidate) === 'end', `${gbnf}\n${candidate}`).toBe(accepts(candidate));
      }
    }
  });
});

describe('the work of a step', () => {
  it.each([
    ['stacks that double', 'root ::= "a" root "b" | "a" root "c" | "a"', 'a'.repeat(400)],
    ['five levels of the empty', levels(5), 'x'.repeat(200)],
    ['ways to split', 'root ::= s\ns ::= "a" s s | "a" s | "a"', 'a'.repeat(120)],
  ])('stays small: %s', (_, gbnf, text) => {
    const { read, work } = runner(gbnf);
    expect(read(text)).not.toBe('dead');
    expect(work() / text.length).toBeLessThan(20_000);
  });

  it('of any ambiguous grammar grows with the text as a power, not as an exponent', () => {
    const random = seeded(21);
    for (let round = 0; round < 120; round += 1) {
      const gbnf = randomGrammar(random, 'a');
      const { read, work } = runner(gbnf);
      read('a'.repeat(60));
      expect(work(), gbnf).toBeLessThan(2_000_000);
    }
  });
});

/** Rules that begin with a character or a later rule: no left recursion, plenty of ambiguity. */
function randomGrammar(random: () => number, letters = 'abx'): string {
  const pick = (count: number) => Math.floor(random() * count);
  const rules = ['r0', 'r1', 'r2', 'r3'];
  const symbol = (rule: number, first: boolean): string => {
    const later = rules.slice(rule + 1);
    const choice = pick(4);
    if (choice === 0 && later.length > 0) return `${later[pick(later.length)]}`;
    if (choice === 1 && !first) return rules[pick(rules.length)] ?? 'r0';
    if (choice === 2) return `"${letters[pick(letters.length)]}"${['', '?', '{1,3}', ''][pick(4)]}`;
    return `"${letters[pick(letters.length)]}"`;
  };
  const body = (rule: number): string => {
    const alternatives = Array.from({ length: 1 + pick(3) }, () => {
      const head = `"${letters[pick(letters.length)]}"`;
      const first = rule < 3 && pick(3) === 0 ? `${rules[rule + 1]} ${head}` : head;
      return [first, ...Array.from({ length: pick(3) }, () => symbol(rule, false))].join(' ');
    });
    return [...alternatives, `"${letters[pick(letters.length)]}"`].join(' | ');
  };
  return [`root ::= r0`, ...rules.map((name, rule) => `${name} ::= ${body(rule)}`)].join('\n');
}

function levels(depth: number): string {
  const names = Array.from({ length: depth }, (_, index) => `l${index}`);
  const rules = names.map((name, index) => {
    const next = names[index + 1];
    return `${name} ::= ${next === undefined ? '"" | "x"' : `${next} ${next} ${next} ${next}`}`;
  });
  return ['root ::= l0', ...rules].join('\n');
}

/** By trying every way, with the text that is left as the state. */
function slowReader(gbnf: string): (text: string) => boolean {
  const program = gbnfProgram(checkGbnf(gbnf));
  const known = new Map<string, ReadonlySet<number>>();
  const ends = (place: number, text: string, at: number): ReadonlySet<number> => {
    const key = `${place} ${at} ${text}`;
    const before = known.get(key);
    if (before !== undefined) return before;
    const found = new Set<number>();
    known.set(key, found);
    const of = program.of[place] ?? 0;
    if (program.kind[place] === 0) {
      found.add(at);
    } else if (program.kind[place] === 1) {
      const code = text.codePointAt(at);
      const isIn = code !== undefined && program.sets[of]?.[program.findClass(code)] === 1;
      for (const end of isIn ? ends(place + 1, text, at + 1) : []) found.add(end);
    } else {
      const middles = (program.starts[of] ?? []).flatMap((start) => [...ends(start, text, at)]);
      for (const middle of middles) for (const end of ends(place + 1, text, middle)) found.add(end);
    }
    return found;
  };
  return (text) =>
    (program.starts[program.root] ?? []).some((start) => ends(start, text, 0).has(text.length));
}
