import {
  gbnfClassChar,
  gbnfLiteral,
  type GbnfWriter,
} from '../../../../packages/schema-grammar/src/gbnf/gbnf-writer.ts';

/**
 * Text without the mark, then the mark and `rest`. The rules are the states of the Knuth-Morris-Pratt automaton:
 * state n has matched the first n characters of the mark.
 */
export function textUntil(writer: GbnfWriter, mark: string, rest: string, mayEnd: boolean): string {
  const chars = [...mark];
  const states = chars.map(() => writer.reserve());
  const alphabet = [...new Set(chars)];
  for (const [matched, state] of states.entries()) {
    const steps = alphabet.map(
      (char) => `${gbnfLiteral(char)} ${states[nextState(chars, matched, char)] ?? rest}`,
    );
    writer.define(
      state,
      [`${classExcept(alphabet)} ${states[0]}`, ...steps, ...(mayEnd ? ['""'] : [])].join(' | '),
    );
  }
  return states[0] ?? rest;
}

function nextState(mark: readonly string[], matched: number, char: string): number {
  for (let length = matched; ; length = longestBorder(mark, length)) {
    if (mark[length] === char) return length + 1;
    if (length === 0) return 0;
  }
}

function longestBorder(mark: readonly string[], length: number): number {
  for (let border = length - 1; border > 0; border -= 1)
    if (mark.slice(0, border).every((char, index) => char === mark[length - border + index])) return border;
  return 0;
}

export function textNotBeginningWith(writer: GbnfWriter, marks: readonly string[]): string {
  const first = [...new Set(marks.map(([char = '']) => char))];
  const steps = first.flatMap((char) => {
    const rests = marks.filter((mark) => mark.startsWith(char)).map((mark) => mark.slice(char.length));
    return rests.includes('') ? [] : [`${gbnfLiteral(char)} ${textNotBeginningWith(writer, rests)}`];
  });
  return writer.rule(['""', `${classExcept(first)} .*`, ...steps].join(' | '));
}

function classExcept(chars: readonly string[]): string {
  return `[^${chars.map((char) => gbnfClassChar(char.codePointAt(0) ?? 0)).join('')}]`;
}

export function textThrough(writer: GbnfWriter, mark: string): string {
  return writer.shared(`text through ${mark}`, () => textUntil(writer, mark, '""', false));
}
