import { describe, expect, it } from 'vitest';
import { CHATML_TEMPLATE } from '../../../../tools/models/tiny-chat.ts';
import { templateDefect } from './template-checks.ts';
import { scanTags } from '../../../chat-templates/src/form/template-scan.ts';

const TYPE_MACRO = [
  '{%- macro render_type(spec, depth) -%}',
  "{%- if spec.type == 'array' -%}{{ render_type(spec['items'], depth + 1) }}[]",
  '{%- elif spec.oneOf -%}{%- for one in spec.oneOf -%}{{- render_type(one, depth + 1) -}}{%- endfor -%}',
  "{%- else -%}{{ 'any' }}{%- endif -%}",
  '{%- endmacro -%}',
  '{{ render_type(tools[0].function.parameters, 0) }}',
].join('\n');

describe('good templates', () => {
  it.each([
    ['ChatML', CHATML_TEMPLATE],
    ['a macro that describes nested types', TYPE_MACRO],
    [
      'a macro that calls itself in a ternary',
      '{% macro f(x) %}{{ f(x.next) if x.next else x }}{% endmacro %}',
    ],
    [
      'two macros that call each other in order',
      '{% macro a(x) %}{{ x }}{% endmacro %}{% macro b(x) %}{{ a(x) }}{% endmacro %}',
    ],
    ['brackets inside quotes', `{{ '${'('.repeat(500)}' }}`],
    ['a word that looks like an inside, in a text', "{{ 'use __class__ and constructor(' }}"],
    ['a comment with anything in it', `{# ${'('.repeat(500)} __class__ #}`],
    ['plain text with braces', '{ "a": { "b": 1 } }'],
    ['a small range', '{% for i in range(0, messages|length, 2) %}{% endfor %}'],
    ['nothing', ''],
  ])('passes %s', (_, source) => {
    expect(templateDefect(source)).toBeUndefined();
  });
});

describe('hostile templates', () => {
  it.each([
    ['deep brackets', `{{ ${'['.repeat(129)} }}`, /nested/],
    ['deep blocks', '{% for a in b %}'.repeat(129), /nested/],
    [
      'a macro that always calls itself',
      '{% macro f() %}{% set x = f() %}{% endmacro %}',
      /always calls itself/,
    ],
    ['a billion turns', '{% for i in range(1_000_000_000) %}{% endfor %}', /counts beyond/],
    ['a billion turns by exponent', '{% for i in range(1e9) %}{% endfor %}', /counts beyond/],
    ['a walk through classes', '{{ messages.__class__ }}', /insides/],
    ['a walk through constructors', '{{ messages["a"].constructor }}', /insides/],
  ])('refuses %s', (_, source, reason) => {
    expect(templateDefect(source)).toMatch(reason);
  });

  // A quadratic scan of any of these would take minutes and run into the test's time limit.
  it.each(['{%', '{{', '{#', "{{ '", '{{ "\\', 'range(', '{{ a', '{% macro ', "{{ '\\'", '{{ __a'])(
    'scans 256 KiB of %j once',
    (piece) => {
      expect(() => templateDefect(piece.repeat(262_144 / piece.length))).not.toThrow();
    },
  );
});

describe('the scanner', () => {
  it('blanks quoted texts and keeps dictionaries together', () => {
    expect(scanTags('a{{ {"x": {\'y\': 1}} }}b{%- if c == "%}" -%}d')).toEqual([
      { word: '', code: " {'': {'': 1}} " },
      { word: 'if', code: "- if c == '' -" },
    ]);
  });
});
