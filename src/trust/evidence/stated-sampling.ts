import type { FrozenFacts } from '../../contract/frozen.ts';
import type { SamplingRow } from '../../contract/sampling.ts';
import { RECORDED_ROWS, type Sampling, SAMPLING_ROWS } from '../../contract/sampling-shapes.ts';
import { canonicalSha256 } from '../identity/canonical.ts';
import type { Predicate } from './statement.ts';

/** Stop strings are text of the request, so a record contains only their hash. */
export function statedSampling(
  { sampling }: FrozenFacts,
  defaulted: readonly string[],
): Predicate['sampling'] {
  const values = RECORDED_ROWS.filter(
    ([option, { evidence, fallback }]) => evidence !== 'deviation' || sampling[option] !== fallback,
  );
  return {
    ...(Object.fromEntries(values.map(([option, { wire }]) => [wire, sampling[option]])) as RecordedValues),
    chain: sampling.chain,
    num_predict: sampling.maxTokens,
    stop_sha256: canonicalSha256(sampling.stop),
    defaulted: [...defaulted],
  };
}

type RecordedValues = Omit<Predicate['sampling'], 'chain' | 'num_predict' | 'stop_sha256' | 'defaulted'>;

/** Settings that a record never contains come from the request. */
export function claimedSampling({ sampling }: Predicate, asked: Sampling): Sampling {
  const unstated = SAMPLING_ROWS.filter(([, { evidence }]) => evidence === 'requested');
  return Object.fromEntries([
    ...RECORDED_ROWS.map(([option, row]) => [option, statedValue(sampling, row)]),
    ...unstated.flatMap(([option]) => (asked[option] === undefined ? [] : [[option, asked[option]]])),
  ]) as Sampling;
}

/** An absent value is the default. Undefined only for an option without one, which every record contains. */
export function statedValue(
  sampling: Predicate['sampling'],
  { wire, fallback }: SamplingRow,
): number | undefined {
  return sampling[wire as keyof RecordedValues] ?? fallback;
}
