import { expect, it } from 'vitest';
import { checkLines } from './check.ts';

const rows = (cases: { readonly passed: number; readonly left: number }) =>
  Object.fromEntries(
    checkLines(
      {
        model: 'm',
        toolFormat: 'envelope',
        format: null,
        cases: { all: 40, failed: [], ...cases },
        makerDefaults: {},
        defects: [],
      },
      undefined,
    ),
  );

it('says in its verdict that it tried little, and no more than that of what it found', () => {
  expect(rows({ passed: 40, left: 0 })).toMatchObject({
    verdict: '40 of 40 cases passed',
    defects: 'none known',
  });
  expect(rows({ passed: 3, left: 37 })).toMatchObject({
    verdict:
      'incomplete, only 3 of 40 cases were tried; 3 of these passed. A minute was too short; check it again when the machine is idle.',
    defects: 'none known from the cases that were tried',
  });
});
