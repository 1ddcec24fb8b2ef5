import { describe, expect, it } from 'vitest';
import { isSvcError, reasonOf } from '../../lib/errors/svc-error.ts';
import { controlTexts } from './client-text.ts';
import { pieceText, renderPrompt } from './prompt.ts';
import { openTemplate, TEMPLATE_LIMITS } from './template.ts';
import type { Vocabulary } from './vocabulary.ts';

const vocabulary = { bosText: '<s>', eosText: '</s>' } as Vocabulary;

function render(
  source: string | undefined,
  fields: Partial<Parameters<typeof renderPrompt>[1]> = {},
): string {
  const writer = { template: openTemplate(source), vocabulary, controls: controlTexts(['<s>', '</s>']) };
  const prompt = {
    turns: [{ role: 'user' as const, content: 'hi' }],
    tools: [],
    variables: {},
    prefill: '',
    clockMs: null,
    ...fields,
  };
  return pieceText(renderPrompt(writer, prompt));
}

function reason(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return isSvcError(error) ? `${error.code}: ${reasonOf(error)}` : String(error);
  }
  return null;
}

describe('chat template', () => {
  it('is ChatML when the model has none', () => {
    expect(render(undefined)).toBe('<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n');
  });

  it('gets messages, tools, the special tokens and further variables', () => {
    const source =
      '{{ bos_token }}{{ messages[0].role }}|{{ tools[0].function.name }}|{{ extra }}|{{ eos_token }}';
    const tools = [{ name: 'f', description: 'd', parameters: {} }];
    expect(render(source, { tools, variables: { extra: 1 } })).toBe('<s>user|f|1|</s>');
  });

  it('gets the arguments of a call as data', () => {
    const call = { id: 'c1', name: 'f', argumentsJson: '{"a":[1]}' };
    const turns = [{ role: 'assistant' as const, content: '', toolCalls: [call] }];
    const source = '{{ messages[0].tool_calls[0].function.arguments | tojson }}';
    expect(render(source, { turns })).toBe('{"a": [1]}');
  });

  it('reads the pinned clock in UTC', () => {
    const source = "{{ strftime_now('%d %b %Y %H:%M') }}";
    expect(render(source, { clockMs: Date.UTC(2024, 1, 29, 23, 5) })).toBe('29 Feb 2024 23:05');
  });

  it('folds the system text into the first user turn where the template has no system role', () => {
    const source =
      "{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('no system') }}{% endif %}[{{ m.content }}]{% endfor %}";
    const turns = [
      { role: 'system' as const, content: 'be kind' },
      { role: 'user' as const, content: 'hi' },
    ];
    expect(render(source, { turns })).toBe('[be kind\n\nhi]');
  });

  it('passes on why a template refuses a conversation', () => {
    expect(reason(() => render("{{ raise_exception('roles must alternate') }}"))).toBe(
      'template_failed: roles must alternate',
    );
  });
});

describe('a hostile template', () => {
  it.each([
    ['nests too deeply', `{{ ${'('.repeat(6000)}1${')'.repeat(6000)} }}`],
    ['nests blocks too deeply', `${'{% if true %}'.repeat(5500)}${'{% endif %}'.repeat(5500)}`],
    ['is too large', ' '.repeat(TEMPLATE_LIMITS.sourceBytes + 1)],
    ['is no template', '{% if %}'],
  ])('is refused at load when it %s', (_, source) => {
    expect(reason(() => openTemplate(source.trim() === '' ? `x${source}` : source))).toMatch(
      /template|Parser|Unknown|Unexpected|Error/i,
    );
  });

  it.each([
    [
      'counts for ever',
      '{% for i in range(10000) %}{% for j in range(10000) %}{% for k in range(10000) %}{% endfor %}{% endfor %}{% endfor %}',
    ],
    ['asks for a huge range', '{{ range(1000000000) }}'],
    [
      'doubles a text',
      '{% set n = namespace(s="x") %}{% for i in range(64) %}{% set n.s = n.s + n.s %}{% endfor %}',
    ],
    [
      'doubles a list',
      '{% set n = namespace(s=[1]) %}{% for i in range(64) %}{% set n.s = n.s + n.s %}{% endfor %}',
    ],
    ['calls itself for ever', '{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}'],
    [
      'writes without end',
      '{% for i in range(10000) %}{{ messages[0].content * 100 }}{{ "0123456789012345678901234567890123456789" }}{% endfor %}',
    ],
  ])('fails within its time when it %s', (_, source) => {
    expect(reason(() => render(source))).toMatch(/^template_failed/);
  });

  it('reaches nothing of the program', () => {
    const source =
      "{{ messages.__proto__ }}{{ messages['constructor'] }}{{ strftime_now.constructor }}{{ raise_exception.__proto__ }}";
    expect(reason(() => render(source)) ?? render(source)).not.toMatch(/function|native code|Object/);
  });
});
