/** The table of docs/model-settings.md is the table of load settings, row by row. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { LOAD_SETTING_ROWS } from '../../src/contract/settings/shapes.ts';

const FROZEN = {
  none: 'no difference',
  own: 'has its own',
  refused: 'refused',
  used: 'refused where applied',
} as const;

const escaped = (text: string): string => text.replaceAll('|', String.raw`\|`);

const expected = LOAD_SETTING_ROWS.map(([, { wire, description, unset, expects, models, frozen }]) =>
  [`\`${wire}\``, description, unset, expects, models, FROZEN[frozen]].map(escaped).join(' | '),
).map((row) => `| ${row} |`);

const written = readFileSync('docs/model-settings.md', 'utf8')
  .split('\n')
  .filter((line) => /^\| `[a-z_]+` \|/.test(line));

describe('the page of model settings', () => {
  it('has the rows of the table, in its order', () => {
    expect(expected.length).toBeGreaterThan(15);
    expect(written).toEqual(expected);
  });
});
