/**
 * Numbers that llama.cpp uses unchecked: an impossible one makes it divide by zero, reserve an empty buffer, or fail
 * an assertion during a step.
 */
import { POOLING_TYPE } from '../format/format.ts';
import type { Lookup } from '../format/lookup.ts';
import type { ModelShape } from './shape-checks.ts';

interface Range {
  readonly least: number;
  readonly most: number;
}

/** Added to a variance; a larger value would erase the vector. */
const EPSILON: Range = { least: 0, most: 1 };
const SIZE: Range = { least: 1, most: 2 ** 20 };

const FRACTIONS: Readonly<Record<string, Range>> = {
  'attention.layer_norm_epsilon': EPSILON,
  'attention.layer_norm_rms_epsilon': EPSILON,
  'attention.group_norm_epsilon': EPSILON,
};
const COUNTS: Readonly<Record<string, Range>> = {
  // A window of one has no past to keep.
  'ssm.conv_kernel': { least: 2, most: 2 ** 10 },
  'ssm.inner_size': SIZE,
  'ssm.state_size': SIZE,
  'ssm.time_step_rank': SIZE,
  'shortconv.l_cache': { least: 2, most: 2 ** 10 },
  'wkv.head_size': SIZE,
  pooling_type: { least: 0, most: Math.max(...Object.values(POOLING_TYPE)) },
};

export function checkNumbers(lookup: Lookup, { architecture }: ModelShape): void {
  for (const [name, range] of Object.entries(FRACTIONS)) {
    const key = `${architecture}.${name}`;
    const value = lookup.fraction(key);
    if (value !== undefined) checkRange(lookup, key, value, range);
  }
  for (const [name, range] of Object.entries(COUNTS)) {
    const key = `${architecture}.${name}`;
    const value = lookup.count(key, 0xffff_ffff);
    if (value !== undefined) checkRange(lookup, key, value, range);
  }
}

function checkRange(lookup: Lookup, key: string, value: number, { least, most }: Range): void {
  if (!(value >= least && value <= most))
    lookup.refuse(`${key} is ${value}; ${least} to ${most} is accepted`);
}
