/** L1: the settings that chose the tokens are those that the request asked for, so that no signer can pick among seeds. */
import { SAMPLING_DEFAULTS } from '../../contract/defaults.ts';
import type { Sampling } from '../../contract/job.ts';
import { canonicalSha256 } from '../identity/canonical.ts';
import type { FrozenRequest } from './freeze.ts';
import type { Predicate } from './statement.ts';
import type { Finding } from './verify.ts';

/** What a request says about sampling, its aliases resolved. */
export interface AskedSampling {
  /** What the mode decides where the request is silent. */
  readonly frozen: Pick<FrozenRequest, 'seed' | 'temperature' | 'defaulted'>;
  /** Only what the request names. */
  readonly named: Sampling;
  readonly maxTokens: number | null;
  /** Null when the request names none. */
  readonly stop: readonly string[] | null;
}

/** What a request may leave to the defaults of the installed model. */
const options = [
  ['top_k', 'topK'],
  ['top_p', 'topP'],
  ['min_p', 'minP'],
  ['repeat_penalty', 'repeatPenalty'],
  ['repeat_last_n', 'repeatLastN'],
  ['presence_penalty', 'presencePenalty'],
  ['frequency_penalty', 'frequencyPenalty'],
] as const;

/** Defaults of the installed model and a full window are not in the record, so they are told and not judged. */
export function checkSampling({ sampling }: Predicate, asked: AskedSampling): Finding {
  const wrong: string[] = [];
  const told: string[] = [];
  const test = (name: keyof Predicate['sampling'], meant: unknown): void => {
    const [here, there] = [JSON.stringify(meant), JSON.stringify(sampling[name])];
    if (here !== there) wrong.push(`${name}: ${there} where the request means ${here}`);
  };
  test('seed', asked.frozen.seed);
  test('temperature', asked.frozen.temperature);
  test('defaulted', asked.frozen.defaulted);
  if (asked.stop !== null) test('stop_sha256', canonicalSha256(asked.stop));
  for (const [name, option] of options) {
    if (asked.named[option] !== undefined) test(name, asked.named[option]);
    else if (sampling[name] !== SAMPLING_DEFAULTS[option])
      told.push(`${name} ${sampling[name]} is a default of the model`);
  }
  const { num_predict } = sampling;
  if (asked.maxTokens !== null && num_predict !== asked.maxTokens) {
    if (num_predict === null || num_predict > asked.maxTokens) test('num_predict', asked.maxTokens);
    else told.push(`num_predict ${num_predict} of ${asked.maxTokens}, for the window was full`);
  }
  return {
    level: 'L1',
    name: 'sampling',
    outcome: wrong.length === 0 ? 'passed' : 'failed',
    detail: wrong.length > 0 ? wrong.join('; ') : ['as the request asks', ...told].join('; '),
  };
}
