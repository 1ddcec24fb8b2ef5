import { describe, expect, it } from 'vitest';
import { formDefect } from './template-form.ts';
import { KNOWN_TEMPLATE_NAMES, knownTemplate } from './known-templates.ts';

describe('a known template', () => {
  it.each(KNOWN_TEMPLATE_NAMES)('%s is one', (name) => {
    const known = knownTemplate(name);
    expect(formDefect(known?.source ?? '')).toBeUndefined();
    // What ends an answer is what begins or ends a turn.
    expect(known?.stops.every((stop) => stop.trim() !== '')).toBe(true);
  });

  it('is nothing else', () => {
    expect(knownTemplate('constructor')).toBeUndefined();
    expect(knownTemplate('/path')).toBeUndefined();
  });
});
