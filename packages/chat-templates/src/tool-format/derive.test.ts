import { describe, expect, it } from 'vitest';
import { formatOfSource, formatOfTemplate } from '../../test/formats.ts';
import { template } from '../../../../test/support/templates.ts';

describe('a format', () => {
  it('says in sentences what it was read from, and from which conversation', () => {
    const { evidence } = formatOfTemplate('tagged');
    expect(evidence).toEqual([
      {
        about: 'calls',
        says: expect.stringContaining('<function=first_tool'),
        probe: 'one call, arguments as data',
      },
      {
        about: 'several calls',
        says: expect.stringContaining('between them'),
        probe: 'two calls, arguments as data',
      },
      { about: 'ids', says: 'Calls are written without ids.', probe: 'one call, arguments as data' },
      {
        about: 'thinking',
        says: 'Thinking is written between "<think>" and "</think>".',
        probe: expect.stringMatching(/^a thought and words/),
      },
    ]);
    const [first] = formatOfTemplate('told').evidence;
    expect(first).toMatchObject({
      about: 'calls',
      says: expect.stringContaining('it contains "<tool_call>"'),
    });
    expect(first?.probe).toBeNull();
  });

  it('has the spacing of the JSON that the template writes', () => {
    const call = (json: string): string =>
      `{% for message in messages %}{% for call in message.tool_calls or [] %}<call>${json}</call>{% endfor %}{{ message.content }}{% endfor %}`;
    const spaced = call('{{ {"name": call.function.name, "arguments": call.function.arguments} | tojson }}');
    const compact = call(
      '{{ {"name": call.function.name, "arguments": call.function.arguments} | tojson(separators=(",", ":")) }}',
    );
    for (const [source, spacing] of [
      [spaced, 'spaced'],
      [compact, 'compact'],
    ] as const)
      expect(formatOfSource(source).tools?.arguments).toEqual({ kind: 'json', spacing });
  });

  it('can be chosen by a user in the place of what the template shows', () => {
    const source = template('tagged');
    expect(formatOfSource(source, 'envelope')).toMatchObject({ tools: null, thinking: { open: '<think>' } });
    const chosen = formatOfSource(source, 'hermes');
    expect(chosen).toMatchObject({
      tools: { name: 'hermes', trigger: '<tool_call>' },
      history: { calls: 'text' },
    });
    expect(chosen.evidence[0]?.says).toBe('The format "hermes" was set for this model.');
    // That a template without calls means the envelope is no longer so.
    const without = formatOfSource(template('gemma'), 'hermes').evidence.map(({ about }) => about);
    expect(without).toEqual(['choice', 'thinking']);
    expect(formatOfSource(template('hermes'), 'harmony').channels?.name).toBe('harmony');
  });

  it('is none where a template shows no call and tells of none', () => {
    expect(formatOfTemplate('gemma').tools).toBeNull();
    expect(formatOfTemplate(null).tools).toBeNull();
  });
});
