import { describe, expect, it } from 'vitest';
import type { ModelFormatFacts } from '../../../contract/job-event.ts';
import { CHECK_CASES } from './cases.ts';
import { formatDefects } from './check-model.ts';

type Format = ModelFormatFacts['format'];

const facts = (template: ModelFormatFacts['template'], format: Partial<Format>): ModelFormatFacts => ({
  template,
  format: { tools: null, history: { calls: 'template' }, ...format } as Format,
  unlimitedTokens: null,
  evidence: [],
});
const failed = (kind: 'call' | 'json' | 'render') =>
  CHECK_CASES.filter((each) => each.kind === kind)
    .slice(0, 2)
    .map(({ name }) => ({ name, kind, reason: 'it did not end' }));

describe('the defects of a model', () => {
  it('are none where tools are put as envelopes and every call came', () => {
    expect(formatDefects(facts('own', {}), [])).toEqual([]);
    expect(formatDefects(facts('own', {}), failed('json'))).toEqual([]);
    expect(formatDefects(facts('own', {}), failed('call'))).toEqual([
      expect.stringMatching(/svc-tool-envelope, and 2 of \d+ calls failed\.$/),
    ]);
  });

  it('are what its template lacks, and what it loses', () => {
    expect(formatDefects(facts('none', {}), failed('call'))).toEqual([expect.stringContaining('base model')]);
    const drops = { tools: {}, history: { calls: 'text' } } as Partial<Format>;
    expect(formatDefects(facts('own', drops), [])).toEqual([expect.stringContaining('drops past calls')]);
    expect(formatDefects(null, failed('render'))).toEqual([
      'The template loses parts of conversations: a call and its result, words beside a call.',
    ]);
  });
});
