import type { GbnfWriter } from './gbnf/gbnf-writer.ts';
import { type Language, Languages } from './pattern/language.ts';
import { linearMatcher } from './pattern/pattern-match.ts';
import { parsePattern, type RefusePattern } from './pattern/pattern.ts';
import {
  at,
  isObject,
  possible,
  type Schema,
  type SchemaPath,
  unenforceable,
  type Compile,
} from './schema/schema-walk.ts';
import { accepts } from './schema/schema-value.ts';
import { stringInLanguage, stringOtherThan } from './string-grammar.ts';

interface ExtraMembers {
  readonly schema: Schema;
  readonly rest: unknown;
  /** Declared names, which no further member may repeat: it would override the checked value. */
  readonly names: readonly string[];
  readonly path: SchemaPath;
  readonly compile: Compile;
}

/** Chosen: each combination of patterns that match a name is its own language. */
const MAX_PATTERNS = 4;

export function extraPairRule(writer: GbnfWriter, extras: ExtraMembers): string | null {
  const { schema, rest, names, path, compile } = extras;
  const patterns = schema['patternProperties'];
  if (isObject(patterns) && Object.keys(patterns).length > 0) {
    const rules = patternPairs(writer, extras, patterns);
    if (rules !== null) return rules.length === 0 ? null : writer.rule(rules.join(' | '));
    return extraPairRule(writer, { ...extras, schema: { ...schema, patternProperties: {} }, rest: true });
  }
  if (rest === undefined || rest === false) return null;
  const propertyNames = schema['propertyNames'];
  const value = possible(() => compile(rest, at(path, 'additionalProperties')));
  if (value === null) return null;
  const key = isNothing(propertyNames)
    ? stringOtherThan(writer, names)
    : namedKey(writer, extras, propertyNames);
  return key === null ? null : writer.rule(`${key} ${writer.colon()} ${value}`);
}

function isNothing(propertyNames: unknown): boolean {
  if (propertyNames === undefined || propertyNames === true) return true;
  return isObject(propertyNames) && Object.keys(propertyNames).every((key) => key === 'type');
}

function namedKey(
  writer: GbnfWriter,
  { names, path, compile }: ExtraMembers,
  propertyNames: unknown,
): string | null {
  const keyPath = at(path, 'propertyNames');
  if (propertyNames === false) return null;
  const isListed = isObject(propertyNames) && Array.isArray(propertyNames['enum']);
  if (isListed) {
    const listed = propertyNames['enum'] as readonly unknown[];
    const free = listed.filter((name) => typeof name === 'string' && !names.includes(name));
    const left = free.filter((name) => accepts(propertyNames, name) === true);
    return left.length === 0 ? null : possible(() => compile({ type: 'string', enum: left }, keyPath));
  }
  const others = names.length === 0 ? [] : [{ not: { enum: names } }];
  return possible(() => compile({ allOf: [{ type: 'string' }, propertyNames, ...others] }, keyPath));
}

function patternPairs(writer: GbnfWriter, extras: ExtraMembers, patterns: Schema): string[] | null {
  const { schema, rest, path } = extras;
  const keywordPath = at(path, 'patternProperties');
  const entries = Object.entries(patterns);
  const refusals = new Map<unknown, string>();
  const refuse: RefusePattern = (reason) => {
    const error = unenforceable(path, 'patternProperties', reason);
    refusals.set(error, reason);
    return error;
  };
  try {
    if (entries.length > MAX_PATTERNS) throw refuse('it has too many patterns');
    if (!isNothing(schema['propertyNames'])) throw refuse('it stands beside propertyNames');
    const languages = new Languages(refuse);
    const matching = entries.map(([source]) => languages.matching(parsePattern(source, refuse).node));
    const undeclared = extras.names.map((name) => languages.not(languages.text(name)));
    const rules: string[] = [];
    for (let chosen = 0; chosen < 2 ** entries.length; chosen += 1) {
      const isChosen = (index: number): boolean => (chosen & (1 << index)) !== 0;
      const parts = entries.flatMap(([, value], index) => (isChosen(index) ? [value] : []));
      const value = chosen === 0 ? (rest ?? false) : parts.length === 1 ? parts[0] : { allOf: parts };
      if (value === false) continue;
      const language = languages.all([
        ...matching.map((one, index) => (isChosen(index) ? one : languages.not(one))),
        ...undeclared,
      ]);
      const rule = pairIn(writer, extras, { languages, language, refuse, value, keywordPath });
      if (rule !== null) rules.push(rule);
    }
    return rules;
  } catch (error) {
    const reason = refusals.get(error);
    if (reason === undefined) throw error;
    writer.cannot(path, 'patternProperties', reason);
    return null;
  }
}

export function patternSchemas(schema: Schema, name: string): unknown[] {
  const patterns = schema['patternProperties'];
  if (!isObject(patterns)) return [];
  return Object.entries(patterns).flatMap(([source, value]) => (mayMatch(source, name) ? [value] : []));
}

/** A pattern that another check refuses matches nothing here. */
function mayMatch(source: string, name: string): boolean {
  try {
    return linearMatcher(source).test(name);
  } catch {
    return false;
  }
}

function pairIn(
  writer: GbnfWriter,
  { compile }: ExtraMembers,
  of: {
    readonly languages: Languages;
    readonly language: Language;
    readonly refuse: RefusePattern;
    readonly value: unknown;
    readonly keywordPath: SchemaPath;
  },
): string | null {
  const { languages, language, refuse, value, keywordPath } = of;
  const key = stringInLanguage(writer, { languages, language, refuse });
  const rule = key === null ? null : possible(() => compile(value, keywordPath));
  return key === null || rule === null ? null : writer.rule(`${key} ${writer.colon()} ${rule}`);
}
