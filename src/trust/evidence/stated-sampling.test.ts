/** Settings of a record: what is written, what a replay reads, and how records of earlier versions are read. */
import { describe, expect, it } from 'vitest';
import { Type } from 'typebox';
import { RECORDED_ROWS } from '../../contract/sampling-shapes.ts';
import { Check } from 'typebox/value';
import { frozenFacts, samplePredicate } from '../../../test/support/records/sample-record.ts';
import { checkSampling } from './sampling.ts';
import { claimedSampling, statedSampling } from './stated-sampling.ts';
import { Predicate } from './statement.ts';

const DEVIATIONS = RECORDED_ROWS.filter(([, { evidence }]) => evidence === 'deviation');
const withSampling = (changes: object): Predicate => {
  const predicate = samplePredicate();
  return { ...predicate, sampling: { ...predicate.sampling, ...changes } };
};
const asked = (predicate: Predicate, named: object = {}) => ({
  frozen: {
    seed: predicate.sampling.seed,
    temperature: predicate.sampling.temperature,
    defaulted: predicate.sampling.defaulted,
  },
  named,
  maxTokens: null,
  stop: null,
});

describe('the settings of a record', () => {
  it('come back as they were, with what only the request says', () => {
    const { chain: _chain, maxTokens: _limit, stop: _stop, ...settings } = frozenFacts.sampling;
    expect(claimedSampling(samplePredicate(), {})).toEqual(settings);
    const logitBias: [number, number][] = [[5, -100]];
    expect(claimedSampling(samplePredicate(), { logitBias, topK: 1 })).toEqual({ ...settings, logitBias });
  });

  it('are all stated in records of the first version', () => {
    const { sampling } = samplePredicate();
    expect(Object.keys(sampling)).toEqual([
      'temperature',
      'seed',
      'top_k',
      'top_p',
      'min_p',
      'repeat_penalty',
      'repeat_last_n',
      'presence_penalty',
      'frequency_penalty',
      'chain',
      'num_predict',
      'stop_sha256',
      'defaulted',
    ]);
    const { top_k: _topK, ...without } = sampling;
    expect(Check(Predicate, { ...samplePredicate(), sampling: without })).toBe(false);
  });

  it.each(DEVIATIONS)('state %s only where it is not the default', (option, { wire, fallback, schema }) => {
    const value = Type.IsInteger(schema) ? 3 : 0.375;
    const deviating = { ...frozenFacts, sampling: { ...frozenFacts.sampling, [option]: value } };
    const sampling = statedSampling(deviating, []);
    expect(sampling).toMatchObject({ [wire]: value });
    const predicate = withSampling(sampling);
    expect(Check(Predicate, predicate)).toBe(true);
    expect(claimedSampling(predicate, {})[option]).toBe(value);
    expect(claimedSampling(samplePredicate(), {})[option]).toBe(fallback);
  });

  it.each(DEVIATIONS)('are those of the request, for %s as for all', (option, { wire, fallback }) => {
    const old = samplePredicate();
    expect(checkSampling(old, asked(old))).toMatchObject({
      outcome: 'passed',
      detail: 'as the request asks',
    });
    expect(checkSampling(old, asked(old, { [option]: fallback })).outcome).toBe('passed');
    expect(checkSampling(old, asked(old, { [option]: 0.375 })).outcome).toBe('failed');
    const stated = withSampling({ [wire]: 0.375 });
    expect(checkSampling(stated, asked(stated, { [option]: 0.375 })).outcome).toBe('passed');
    expect(checkSampling(stated, asked(stated)).detail).toContain(`${wire} 0.375 is a default of the model`);
  });
});
