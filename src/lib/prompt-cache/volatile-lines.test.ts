import { describe, expect, it } from 'vitest';
import { VOLATILE_LINES, withoutVolatileLines } from './volatile-lines.ts';

const BILLING = 'x-anthropic-billing-header: cc_version=2.1.197.abc; cc_entrypoint=cli; cch=3ea3b;';

describe('volatile lines', () => {
  it.each([
    ['alone', BILLING, ''],
    ['first', `${BILLING}\nYou help.`, 'You help.'],
    ['before an empty line', `${BILLING}\n\nYou help.`, 'You help.'],
    ['joined to what follows', `${BILLING}You help.`, 'You help.'],
    ['in the middle', `You help.\n\n${BILLING}\n\nBe brief.`, 'You help.\n\nBe brief.'],
    ['without its last semicolon', `${BILLING.slice(0, -1)}\nYou help.`, 'You help.'],
  ])('take the billing header out: %s', (_, text, rest) => {
    const found = withoutVolatileLines(text);
    expect(found.text).toBe(rest);
    expect(found.lines.map(({ name }) => name)).toEqual(['x-anthropic-billing-header']);
  });

  it('knows what gateways put among the words', () => {
    const trace = 'traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    const names = [trace, 'X-Request-Id: req_0192-a'].map(
      (line) => withoutVolatileLines(line).lines[0]?.name,
    );
    expect(names).toEqual(['traceparent', 'x-request-id']);
  });

  it.each([
    'You explain what x-anthropic-billing-header: a=b; means.',
    'x-anthropic-billing-header: what is it?',
    'x-request-id: is the name of a header',
    'traceparent: 00-short',
    'Today is 2026-11-23.',
  ])('leave words alone: %s', (text) => {
    expect(withoutVolatileLines(text)).toEqual({ text, lines: [] });
  });

  // Work that grew with the square of these would outlast the test.
  it.each([
    `x-anthropic-billing-header:${'a=b;'.repeat(200_000)} x`,
    `x-anthropic-billing-header:${' '.repeat(500_000)}`,
    'x-anthropic-billing-header:\n'.repeat(50_000),
    `x-request-id:${' '.repeat(500_000)}!`,
  ])('cost time in proportion to the text', (text) => {
    expect(withoutVolatileLines(text).text.length).toBeLessThanOrEqual(text.length);
  });

  it('are each named once', () => {
    const names = VOLATILE_LINES.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  });
});
