/** L1: checks that the sampling settings match the request, so that a signer cannot choose a seed. */
import { RECORDED_ROWS, type Sampling } from '../../contract/sampling-shapes.ts';
import { canonicalSha256 } from '../identity/canonical.ts';
import type { FrozenRequest } from './freeze.ts';
import { statedValue } from './stated-sampling.ts';
import type { Predicate } from './statement.ts';
import type { Finding } from './verify.ts';

export interface AskedSampling {
  readonly frozen: Pick<FrozenRequest, 'seed' | 'temperature' | 'defaulted'>;
  readonly named: Sampling;
  readonly maxTokens: number | null;
  readonly stop: readonly string[] | null;
}

/** Defaults of the installed model and a full window are not in the record, so they are reported, not judged. */
export function checkSampling({ sampling }: Predicate, asked: AskedSampling): Finding {
  const wrong: string[] = [];
  const notes: string[] = [];
  const test = (name: string, meant: unknown, stated: unknown): void => {
    const [here, there] = [JSON.stringify(meant), JSON.stringify(stated)];
    if (here !== there) wrong.push(`${name}: ${there} where the request means ${here}`);
  };
  test('seed', asked.frozen.seed, sampling.seed);
  test('temperature', asked.frozen.temperature, sampling.temperature);
  test('defaulted', asked.frozen.defaulted, sampling.defaulted);
  if (asked.stop !== null) test('stop_sha256', canonicalSha256(asked.stop), sampling.stop_sha256);
  for (const [option, row] of RECORDED_ROWS) {
    // The mode's own decisions were checked above.
    if (row.evidence === 'decided') continue;
    const stated = statedValue(sampling, row);
    if (asked.named[option] !== undefined) test(row.wire, asked.named[option], stated);
    else if (stated !== row.fallback) notes.push(`${row.wire} ${stated} is a default of the model`);
  }
  const { num_predict } = sampling;
  if (asked.maxTokens !== null && num_predict !== asked.maxTokens) {
    if (num_predict === null || num_predict > asked.maxTokens)
      test('num_predict', asked.maxTokens, num_predict);
    else notes.push(`num_predict ${num_predict} of ${asked.maxTokens}, for the window was full`);
  }
  return {
    level: 'L1',
    name: 'sampling',
    outcome: wrong.length === 0 ? 'passed' : 'failed',
    detail: wrong.length > 0 ? wrong.join('; ') : ['as the request asks', ...notes].join('; '),
  };
}
