import { describe, expect, it } from 'vitest';
import type { Distance } from '../eval/compare.ts';
import type { TrialFigures } from './trial.ts';
import { judge } from './verdict.ts';

const distance = (over: Partial<Distance> = {}): Distance => ({
  reference: 'present',
  tokens: 2000,
  sameChoice: 1,
  divergence: 0,
  lossRatio: 1,
  ...over,
});
const requests = { replayed: 20, validBefore: 20, valid: 20, lost: [], same: 20, distance: distance() };
const harmless: TrialFigures = {
  isSameModel: true,
  texts: distance(),
  leftOut: [],
  findings: [],
  cases: { tried: 40, passedBefore: 38, passed: 38, lost: [] },
  requests,
  speedRatio: 1.1,
  memory: { present: 100, candidate: 100 },
};
const other = { isSameModel: false };

describe('the verdict', () => {
  it.each<[string, Partial<TrialFigures>]>([
    ['the same', {}],
    ['rounding', { texts: distance({ sameChoice: 0.985, divergence: 0.002 }) }],
    ['a better model', { ...other, texts: distance({ sameChoice: 0.88, divergence: 0.3, lossRatio: 0.9 }) }],
    ['faster and smaller', { speedRatio: 3, memory: { present: 100, candidate: 40 } }],
  ])('is to switch to %s', (_, over) => {
    expect(judge({ figures: { ...harmless, ...over } })).toEqual({ verdict: 'switch', reasons: [] });
  });

  it.each<[string, Partial<TrialFigures>, RegExp]>([
    ['more drift than rounding', { texts: distance({ sameChoice: 0.95 }) }, /changes 5\.0 %.*rounding/],
    [
      'drift on requests',
      { requests: { ...requests, distance: distance({ divergence: 0.05 }) } },
      /your requests/,
    ],
    ['what is compared in part', { leftOut: ['5 of 9 texts'] }, /^The comparison ended before 5 of 9 texts/],
    ['one call lost', { cases: { ...harmless.cases, lost: ['call 3'] } }, /1 of 40 .*: call 3\./],
    ['a coarser quant', { ...other, texts: distance({ lossRatio: 1.1 }) }, /1\.10 times the bits/],
    ['a slower one', { speedRatio: 0.5 }, /only 0\.50 times as fast/],
    ['a larger one', { memory: { present: 100, candidate: 190 } }, /1\.90 times the memory/],
    [
      'a better model with another template',
      { ...other, findings: ['another chat template'], texts: distance({ lossRatio: 0.9 }) },
      /template/,
    ],
  ])('is to look at %s', (_, over, words) => {
    const { verdict, reasons } = judge({ figures: { ...harmless, ...over } });
    expect([verdict, reasons]).toEqual(['look', [expect.stringMatching(words)]]);
  });

  it.each<[string, Partial<TrialFigures>, RegExp]>([
    ['other answers', { texts: distance({ sameChoice: 0.8 }) }, /something else .* 20\.0 %/],
    ['another distribution', { texts: distance({ divergence: 0.4 }) }, /0\.4000 nats/],
    ['figures that are no numbers', { texts: distance({ divergence: Number.NaN }) }, /something else/],
    [
      'drift on requests alone',
      { requests: { ...requests, distance: distance({ sameChoice: 0.5 }) } },
      /50\.0 % .* your requests/,
    ],
    [
      'another vocabulary',
      { texts: distance({ tokens: 0, sameChoice: 0 }), findings: ['other tokens'] },
      /other tokens/,
    ],
    ['lost calls', { cases: { ...harmless.cases, lost: ['a', 'b', 'c'] } }, /3 of 40 .*: a, b, c\./],
    ['lost answers', { requests: { ...requests, lost: ['request 1', 'request 2'] } }, /2 of 20 answers/],
    [
      'damage that flattens the distribution',
      { ...other, findings: ['damaged weights'], texts: distance({ sameChoice: 0.717, lossRatio: 0.991 }) },
      /damaged/,
    ],
    [
      'damaged weights',
      { ...other, findings: ['damaged weights'], texts: distance({ lossRatio: 2 }) },
      /damaged/,
    ],
  ])('is to keep the present side instead of %s', (_, over, words) => {
    const { verdict, reasons } = judge({ figures: { ...harmless, ...over } });
    expect([verdict, reasons[0]]).toEqual(['keep', expect.stringMatching(words)]);
  });

  it('is to keep the present side where the candidate cannot run, and names the worst first', () => {
    expect(judge({ failed: 'it crashed' })).toEqual({
      verdict: 'keep',
      reasons: ['It cannot run: it crashed'],
    });
    const both = { texts: distance({ sameChoice: 0.5 }), speedRatio: 0.1 };
    expect(judge({ figures: { ...harmless, ...both } }).reasons).toEqual([
      expect.stringContaining('something else'),
      expect.stringContaining('fast'),
    ]);
  });
});
