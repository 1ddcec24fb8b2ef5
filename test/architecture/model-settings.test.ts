/** The tables of docs/model-settings.md are the tables of the code, row by row. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { LOAD_SETTING_ROWS } from '../../src/contract/settings/shapes.ts';
import { PARAM_ROWS, type ParamInput } from '../../src/store/registry/param-rows.ts';

const FROZEN = {
  none: 'no difference',
  own: 'has its own',
  refused: 'refused',
  used: 'refused where applied',
} as const;

const rowOf = (name: string, ...cells: string[]): string =>
  `| ${[`\`${name}\``, ...cells].map((text) => text.replaceAll('|', String.raw`\|`)).join(' | ')} |`;

const ofLoads = LOAD_SETTING_ROWS.map(([, { wire, description, unset, expects, models, frozen }]) =>
  rowOf(wire, description, unset, expects, models, FROZEN[frozen]),
);

const ofRequests = PARAM_ROWS.filter(
  ({ name }) => !LOAD_SETTING_ROWS.some(([, { wire }]) => wire === name),
).map(({ name, description, unset, input, models }) =>
  rowOf(name, description, unset, valueWords(input), models),
);

function valueWords(input: ParamInput): string {
  if (input.kind === 'lines') return 'a text';
  if (input.kind === 'text' || input.kind === 'document') return input.expects;
  if (input.kind === 'choice') return input.words.join(', ').replace(/, (?=[^,]*$)/, ' or ');
  const { isWhole, least, most } = input;
  const bounds = [
    ...(least === undefined ? [] : [`from ${least}`]),
    ...(most === undefined ? [] : [`to ${most}`]),
  ];
  return [`a ${isWhole ? 'whole ' : ''}number`, ...bounds].join(' ');
}

const rows = readFileSync('docs/model-settings.md', 'utf8')
  .split('\n')
  .filter((line) => /^\| `[a-z_]+` \|/.test(line));

describe('the page of model settings', () => {
  it('has the rows of the tables, in their order', () => {
    expect(ofLoads.length).toBeGreaterThan(15);
    expect(ofRequests.length).toBeGreaterThan(10);
    expect(rows).toEqual([...ofRequests, ...ofLoads]);
  });
});
