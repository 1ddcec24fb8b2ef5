/** GBNF for JSON strings: free, bounded in length, by pattern, by format. Lengths count code points, as ajv does. */
import { gbnfClassChar, type GbnfWriter, repeat } from './gbnf/gbnf-writer.ts';
import { linearMatcher } from './pattern/pattern-match.ts';
import {
  type CodeRange,
  complement,
  type Pattern,
  type PatternNode,
  parsePattern,
  type RefusePattern,
} from './pattern/pattern.ts';

/**
 * Characters that stand for themselves inside a JSON string. Surrogates are left out because llama.cpp would
 * let a byte-level vocabulary spell them, and the text would then not be Unicode any more.
 */
const RAW_OUTSIDE: readonly CodeRange[] = [
  [0, 0x1f],
  [0x22, 0x22],
  [0x5c, 0x5c],
  [0x7f, 0x7f],
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

/** Any string with min to max code points. */
export function stringOf(writer: GbnfWriter, min: number, max: number | null): string {
  return writer.rule(quotedBy(writer, repeat(writer, anyChar(writer), min, max)));
}

/** Strings that the pattern finds a match in. */
export function stringMatching(writer: GbnfWriter, source: string, refuse: RefusePattern): string {
  // The finished answer will be matched too, so a pattern that is too large for that is refused here.
  writer.budget.spend('steps', linearMatcher(source, refuse).states);
  return stringOfPattern({ writer, refuse }, parsePattern(source, refuse));
}

export function stringOfFormat(writer: GbnfWriter, format: string, refuse: RefusePattern): string | null {
  const source = FORMAT_PATTERNS[format];
  return source === undefined ? null : stringMatching(writer, source, refuse);
}

/** One character of a string's content, raw or as a short escape. */
export function anyChar(writer: GbnfWriter): string {
  return writer.shared('char', () => {
    const escapes = [...SHORT_ESCAPES.values()].map((text) => writer.literal(text));
    return writer.rule([rawClass(complement(RAW_OUTSIDE)), ...escapes].join(' | '));
  });
}

interface Target {
  readonly writer: GbnfWriter;
  readonly refuse: RefusePattern;
}

function stringOfPattern(target: Target, pattern: Pattern): string {
  const { writer } = target;
  const any = `${anyChar(writer)}*`;
  const parts = [
    pattern.anchoredStart ? '' : any,
    nodeBody(target, pattern.body),
    pattern.anchoredEnd ? '' : any,
  ];
  return writer.rule(quotedBy(writer, parts.join(' ')));
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
  const options = raw.length > 0 ? [rawClass(raw), ...escapes] : escapes;
  if (options.length === 0) throw refuse('a character class in it can never match in JSON');
  return writer.rule(options.join(' | '));
}

function rawClass(ranges: readonly CodeRange[]): string {
  const parts = ranges.map(([from, to]) =>
    from === to ? gbnfClassChar(from) : `${gbnfClassChar(from)}-${gbnfClassChar(to)}`,
  );
  return `[${parts.join('')}]`;
}

const MONTH_DAY =
  '(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|02-(?:0[1-9]|1\\d|2[0-8]))';
const DATE = `[12]\\d{3}-${MONTH_DAY}`;
const TIME = '(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.\\d{1,6})?(?:Z|[+-](?:[01]\\d|2[0-3]):[0-5]\\d)';
const LABEL = '[a-z0-9](?:[a-z0-9-]{0,40}[a-z0-9])?';
const OCTET = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]\\d|\\d)';

/** The formats that are enforced. Each pattern accepts a part of the format, never more than it. */
export const FORMAT_PATTERNS: Readonly<Record<string, string>> = {
  date: `^${DATE}$`,
  time: `^${TIME}$`,
  'date-time': `^${DATE}T${TIME}$`,
  uuid: '^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$',
  email: `^[A-Za-z0-9_+-]{1,30}(?:\\.[A-Za-z0-9_+-]{1,30}){0,2}@(?:${LABEL}\\.){1,3}[a-z]{2,10}$`,
  hostname: `^(?:${LABEL}\\.){0,3}${LABEL}$`,
  ipv4: `^(?:${OCTET}\\.){3}${OCTET}$`,
  uri: `^https?://(?:${LABEL}\\.){0,3}${LABEL}(?::[1-9]\\d{0,3})?(?:/[A-Za-z0-9._~-]{0,60}){0,8}$`,
};
