import { describe, expect, it } from 'vitest';
import { formatOfSource, formatOfTemplate } from '../../../test/support/formats.ts';
import { template } from '../../../test/support/templates.ts';

describe('a format', () => {
  it('says in sentences what it was read from', () => {
    expect(formatOfTemplate('tagged').evidence).toEqual([
      expect.stringContaining('<function=first_tool'),
      'A thought is rendered between "<think>" and "</think>".',
    ]);
    expect(formatOfTemplate('told').evidence[0]).toContain('the template contains "<tool_call>"');
  });

  it('can be chosen by a user in the place of what the template shows', () => {
    const source = template('tagged');
    expect(formatOfSource(source, 'envelope')).toMatchObject({ tools: null, thinking: { open: '<think>' } });
    const chosen = formatOfSource(source, 'hermes');
    expect(chosen).toMatchObject({
      tools: { name: 'hermes', trigger: '<tool_call>' },
      history: { calls: 'text' },
    });
    expect(chosen.evidence[0]).toBe('The format "hermes" was set for this model.');
    expect(formatOfSource(template('hermes'), 'harmony').channels?.name).toBe('harmony');
  });

  it('is none where a template shows no call and tells of none', () => {
    expect(formatOfTemplate('gemma').tools).toBeNull();
    expect(formatOfTemplate(null).tools).toBeNull();
  });
});
