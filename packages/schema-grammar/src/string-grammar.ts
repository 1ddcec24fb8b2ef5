/** GBNF for JSON strings: free, bounded in length, by pattern, by format. Lengths count code points, as ajv does. */
import { gbnfClassChar, type GbnfWriter, repeat } from './gbnf/gbnf-writer.ts';
import { type AutomatonState, buildAutomaton } from './pattern/automaton.ts';
import { type Language, Languages } from './pattern/language.ts';
import { linearMatcher } from './pattern/pattern-match.ts';
import {
  type CodeRange,
  complement,
  parsePattern,
  type PatternNode,
  type PlainAlternative,
  type RefusePattern,
} from './pattern/pattern.ts';

/**
 * Characters that need an escape in a JSON string. Also surrogates, because a byte-level vocabulary could write one
 * alone, which is not Unicode.
 */
const RAW_OUTSIDE: readonly CodeRange[] = [
  [0, 0x1f],
  [0x22, 0x22],
  [0x5c, 0x5c],
  [0xd800, 0xdfff],
];
const SHORT_ESCAPES = new Map([
  [0x22, '\\"'],
  [0x5c, '\\\\'],
  [0x08, '\\b'],
  [0x09, '\\t'],
  [0x0a, '\\n'],
  [0x0c, '\\f'],
  [0x0d, '\\r'],
]);
const WRITABLE: readonly CodeRange[] = complement([[0xd800, 0xdfff]]);

interface StringLimits {
  readonly min: number;
  readonly max: number | null;
  readonly patterns: readonly { readonly source: string; readonly negated: boolean }[];
  readonly not: readonly string[];
}

export function stringRule(writer: GbnfWriter, min: number, max: number | null): string {
  return writer.rule(quotedBy(writer, repeat(writer, anyChar(writer), min, max)));
}

/** Null if no string satisfies the limits. */
export function stringWithin(writer: GbnfWriter, limits: StringLimits, refuse: RefusePattern): string | null {
  const { min, max, patterns, not } = limits;
  // The answer will be matched too, so a pattern that is too large for that is refused here.
  for (const { source } of patterns) writer.budget.spend('steps', linearMatcher(source, refuse).states);
  const [only, ...others] = patterns;
  if (
    only !== undefined &&
    others.length === 0 &&
    !only.negated &&
    not.length === 0 &&
    min === 0 &&
    max === null
  ) {
    const { plain } = parsePattern(only.source, refuse);
    if (plain !== null) return writer.rule(quotedBy(writer, plainBody({ writer, refuse }, plain)));
  }
  const languages = new Languages(refuse);
  const language = languages.all([
    ...patterns.map(({ source, negated }) => {
      const matching = languages.matching(parsePattern(source, refuse).node);
      return negated ? languages.not(matching) : matching;
    }),
    ...not.map((text) => languages.not(languages.text(text))),
  ]);
  return stringInLanguage(writer, { languages, language, refuse, min, max });
}

interface WantedLanguage {
  readonly languages: Languages;
  readonly language: Language;
  readonly refuse: RefusePattern;
  readonly min?: number;
  readonly max?: number | null;
}

export function stringInLanguage(writer: GbnfWriter, wanted: WantedLanguage): string | null {
  const { languages, refuse, min = 0, max = null } = wanted;
  const spend = (steps: number): void => writer.budget.spend('steps', steps);
  const writable = languages.repeat(languages.set(WRITABLE), 0, null);
  const language = languages.all([wanted.language, writable]);
  const free = min === 0 && max === null ? null : tryAutomaton(languages, language);
  const lengths = free === null ? null : textLengths(free);
  const fits = lengths !== null && lengths.shortest >= min && (max === null || lengths.longest <= max);
  const counted = languages.repeat(languages.set([[0, 0x10ffff]]), min, max);
  const states = fits
    ? free
    : buildAutomaton(languages, languages.all([language, counted]), { refuse, spend });
  return states === null ? null : writer.rule(quotedBy(writer, automatonBody({ writer, refuse }, states)));
}

export function stringOtherThan(writer: GbnfWriter, texts: readonly string[]): string {
  if (texts.length === 0) return stringRule(writer, 0, null);
  const rest = `${anyChar(writer)}*`;
  const target = { writer, refuse: (reason: string): Error => new Error(reason) };
  const node = (alike: readonly (readonly string[])[]): string => {
    writer.budget.spend('steps', alike.length);
    const next = new Map<string, (readonly string[])[]>();
    for (const [char, ...others] of alike)
      if (char !== undefined) next.set(char, [...(next.get(char) ?? []), others]);
    const codes = [...next.keys()].map(
      (char): CodeRange => [char.codePointAt(0) ?? 0, char.codePointAt(0) ?? 0],
    );
    const options = [`${setRule(target, complement(codes))} ${rest}`];
    for (const [char, group] of next)
      options.push(`${writer.literal(JSON.stringify(char).slice(1, -1))} ${node(group)}`);
    if (!alike.some(({ length }) => length === 0)) options.push('""');
    return writer.rule(options.join(' | '));
  };
  return writer.rule(quotedBy(writer, node(texts.map((text) => [...text]))));
}

/** One character of a string's content, raw or in any JSON escape. */
export function anyChar(writer: GbnfWriter): string {
  return writer.shared('char', () => {
    const escapes = [...SHORT_ESCAPES.values(), '\\/'].map((text) => writer.literal(text));
    return writer.rule(
      [rawClass(complement(RAW_OUTSIDE)), ...escapes, ...unicodeEscapes(writer)].join(' | '),
    );
  });
}

function unicodeEscapes(writer: GbnfWriter): string[] {
  const start = writer.literal('\\u');
  const single = '([0-9A-CEFa-cef] [0-9A-Fa-f]{3} | [dD] [0-7] [0-9A-Fa-f]{2})';
  const high = '[dD] [89ABab] [0-9A-Fa-f]{2}';
  const low = '[dD] [C-Fc-f] [0-9A-Fa-f]{2}';
  return [`${start} ${single}`, `${start} ${high} ${start} ${low}`];
}

function tryAutomaton(languages: Languages, language: Language): readonly AutomatonState[] | null {
  try {
    return buildAutomaton(languages, language, { refuse: (reason) => new Error(reason), spend: () => {} });
  } catch {
    return null;
  }
}

function textLengths(states: readonly AutomatonState[]): { shortest: number; longest: number } {
  let reached = new Set([0]);
  let shortest = Number.POSITIVE_INFINITY;
  let longest = 0;
  for (let length = 0; reached.size > 0; length += 1) {
    if (length > states.length) return { shortest, longest: Number.POSITIVE_INFINITY };
    const accepts = [...reached].some((index) => states[index]?.accepts);
    if (accepts) {
      shortest = Math.min(shortest, length);
      longest = length;
    }
    reached = new Set([...reached].flatMap((index) => [...(states[index]?.steps.keys() ?? [])]));
  }
  return { shortest, longest };
}

function automatonBody(target: Target, states: readonly AutomatonState[]): string {
  const { writer } = target;
  const names = states.map(() => writer.reserve());
  for (const [index, { accepts, steps }] of states.entries()) {
    const options = [...steps].map(([to, ranges]) => `${setRule(target, ranges)} ${names[to]}`);
    if (accepts) options.push('""');
    if (options.length > 0) writer.define(names[index] ?? '', options.join(' | '));
  }
  return names[0] ?? '""';
}

interface Target {
  readonly writer: GbnfWriter;
  readonly refuse: RefusePattern;
}

function plainBody(target: Target, alternatives: readonly PlainAlternative[]): string {
  const { writer } = target;
  const any = `${anyChar(writer)}*`;
  const bodies = alternatives.map(({ anchoredStart, anchoredEnd, body }) => {
    const parts = [anchoredStart ? '' : any, nodeBody(target, body), anchoredEnd ? '' : any];
    return parts.filter((part) => part !== '').join(' ') || '""';
  });
  return bodies.length === 1 ? (bodies[0] ?? '""') : writer.rule(bodies.join(' | '));
}

function quotedBy(writer: GbnfWriter, body: string): string {
  return `${writer.literal('"')} ${body} ${writer.literal('"')}`;
}

function nodeBody(target: Target, node: PatternNode): string {
  const { writer } = target;
  switch (node.kind) {
    case 'set':
      return setRule(target, node.negated ? complement(node.ranges) : node.ranges);
    case 'sequence':
      return node.items.map((item) => nodeBody(target, item)).join(' ');
    case 'choice':
      return writer.rule(node.options.map((option) => nodeBody(target, option) || '""').join(' | '));
    case 'repeat': {
      const body = nodeBody(target, node.item);
      return body === '' ? '' : repeat(writer, writer.rule(body), node.min, node.max);
    }
    case 'anchor':
    case 'look':
      throw target.refuse('it looks around');
    default:
      return node satisfies never;
  }
}

function setRule({ writer, refuse }: Target, ranges: readonly CodeRange[]): string {
  const contains = (code: number) => ranges.some(([from, to]) => from <= code && code <= to);
  const raw = complement([...complement(ranges), ...RAW_OUTSIDE]);
  const escapes = [...SHORT_ESCAPES]
    .filter(([code]) => contains(code))
    .map(([, text]) => writer.literal(text));
  const options = [...(raw.length > 0 ? [rawClass(raw)] : []), ...escapes, ...controls(writer, contains)];
  if (options.length === 0) throw refuse('a character class in it can never match in JSON');
  return writer.rule(options.join(' | '));
}

function controls(writer: GbnfWriter, contains: (code: number) => boolean): string[] {
  return ['0', '1'].flatMap((high) => {
    const codes = Array.from({ length: 16 }, (_, low) => Number(high) * 16 + low);
    const wanted = codes.filter((code) => !SHORT_ESCAPES.has(code) && contains(code));
    const digits = wanted.map((code) => (code % 16).toString(16));
    const either = digits.flatMap((digit) => (/[a-f]/.test(digit) ? [digit, digit.toUpperCase()] : [digit]));
    return digits.length === 0 ? [] : [`${writer.literal(`\\u00${high}`)} [${either.join('')}]`];
  });
}

function rawClass(ranges: readonly CodeRange[]): string {
  const parts = ranges.map(([from, to]) =>
    from === to ? gbnfClassChar(from) : `${gbnfClassChar(from)}-${gbnfClassChar(to)}`,
  );
  return `[${parts.join('')}]`;
}
