/** Short programs mean what they mean to jinja2, as transformers sets it up. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { Program } from '../src/template.ts';
import { TemplateError } from '../src/template-error.ts';
import { surroundings } from './surroundings.ts';

interface Language {
  readonly messages: readonly unknown[];
  readonly variables: Readonly<Record<string, unknown>>;
  readonly sources: readonly string[];
}

const readJson = <Content>(name: string): Content =>
  JSON.parse(readFileSync(new URL(name, import.meta.url), 'utf8')) as Content;

const { messages, variables, sources } = readJson<Language>('./language.json');
const expected = readJson<Readonly<Record<string, string>>>('./language.expected.json');

/** What the parser does not know. None of it occurs in a template of the corpus. */
const UNKNOWN_SYNTAX: readonly string[] = [
  '{{ 1e3 }}',
  '{{ () is sequence }}',
  "{{ ('a',) }}",
  "{{ 'a' is in 'abc' }}",
  '{{ 6 is divisibleby 3 }}',
  '{{ 6 is divisibleby(3) }}',
  '{% raw %}{{ x }}{% endraw %}',
  '{% with a = 1 %}{{ a }}{% endwith %}',
  "{{ 'a\\qb' }}",
  '{% for x in list recursive %}{{ x }}{% endfor %}',
  '{%+ if true %}x{%+ endif %}',
  '{{ 0x1f }} {{ 1_000 }}',
  'a\n{%- raw -%}  {% if %} {%- endraw %} b',
];

function rendering(source: string): string {
  const bounds = { steps: 100_000, characters: 100_000, elements: 10_000 };
  try {
    return new Program(source).render({ ...surroundings, tools: null, messages, ...variables }, bounds)
      .string;
  } catch (error) {
    return error instanceof TemplateError ? `!${error.message}` : `!!${String(error)}`;
  }
}

describe('the language of templates', () => {
  it.each(sources.filter((source) => !UNKNOWN_SYNTAX.includes(source)))('%j', (source) => {
    const reference = expected[source] ?? '';
    const ours = rendering(source);
    if (reference.startsWith('!')) expect(ours).toMatch(/^![^!]/);
    else expect(ours).toBe(reference);
  });

  it.each(UNKNOWN_SYNTAX)('is refused where the parser does not know it: %j', (source) => {
    expect(expected[source]).toBeDefined();
    expect(rendering(source)).toMatch(/^!!/);
  });
});
