/**
 * Two servers, one run: each scenario is measured A B A B …, because machines are noisy and drift. Printed are the
 * medians and the median of the ratios of neighbours.
 */
import { parseArgs } from 'node:util';
import type { Side } from './client.ts';
import { type Scenario, scenarios } from './scenarios.ts';
import { median, rounded } from './statistics.ts';

export async function compare(argv: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      a: { type: 'string' },
      b: { type: 'string' },
      'model-a': { type: 'string', default: 'default' },
      'model-b': { type: 'string', default: 'default' },
      rounds: { type: 'string', default: '5' },
      only: { type: 'string' },
    },
  });
  if (values.a === undefined || values.b === undefined)
    throw new Error('give two base URLs: --a URL --b URL');
  const a: Side = { name: 'a', url: trim(values.a), model: values['model-a'] };
  const b: Side = { name: 'b', url: trim(values.b), model: values['model-b'] };
  const wanted =
    values.only?.split(',') ?? scenarios.map(({ name }) => name).filter((name) => !name.startsWith('embed'));
  console.log('| scenario | figure | a | b | a/b |\n|---|---|---|---|---|');
  for (const scenario of scenarios.filter(({ name }) => wanted.includes(name))) {
    await measure(scenario, a, b, Number(values.rounds));
  }
}

async function measure(scenario: Scenario, a: Side, b: Side, rounds: number): Promise<void> {
  const seen: Record<string, { a: number[]; b: number[] }> = {};
  // Round 0 warms both sides and is not counted.
  for (let round = 0; round <= rounds; round += 1) {
    const figuresA = await scenario.run(a, round);
    const figuresB = await scenario.run(b, round);
    if (round === 0) continue;
    for (const [name, value] of Object.entries(figuresA)) {
      const row = (seen[name] ??= { a: [], b: [] });
      row.a.push(value);
      row.b.push(figuresB[name] ?? Number.NaN);
    }
  }
  for (const [name, row] of Object.entries(seen)) {
    const ratios = row.a.map((value, at) => value / (row.b[at] ?? Number.NaN));
    const cells = [median(row.a), median(row.b), median(ratios)].map(rounded);
    console.log(`| ${scenario.name} | ${name} | ${cells.join(' | ')} |`);
  }
}

const trim = (url: string): string => url.replace(/\/+$/, '').replace(/\/v1$/, '');
