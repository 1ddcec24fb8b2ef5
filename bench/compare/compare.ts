/**
 * Two servers, one run: each scenario is measured A B A B …, because machines are noisy and drift. Printed are the
 * medians and the median of the ratios of neighbours.
 */
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { baseUrl, postJson, type Side } from '../client.ts';
import { type Scenario, scenarios, type TextOf } from './scenarios.ts';
import { median, rounded } from '../statistics.ts';
import { text } from '../words.ts';

export async function compare(argv: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      a: { type: 'string' },
      b: { type: 'string' },
      'model-a': { type: 'string', default: 'default' },
      'model-b': { type: 'string', default: 'default' },
      rounds: { type: 'string', default: '5' },
      seed: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000)) },
      only: { type: 'string' },
    },
  });
  if (values.a === undefined || values.b === undefined)
    throw new Error('give two base URLs: --a URL --b URL');
  const a: Side = { name: 'a', url: baseUrl(values.a), model: values['model-a'] };
  const b: Side = { name: 'b', url: baseUrl(values.b), model: values['model-b'] };
  const wanted =
    values.only?.split(',') ?? scenarios.map(({ name }) => name).filter((name) => !name.startsWith('embed'));
  const chosen = scenarios.filter(({ name }) => wanted.includes(name));
  const textOf = chosen.every(({ name }) => name.startsWith('embed')) ? text : await textOfTokens(a);
  console.log(`--seed ${values.seed}\n| scenario | figure | a | b | a/b |\n|---|---|---|---|---|`);
  for (const scenario of chosen) {
    const firstRound = Number(values.seed) * 1000 + scenarios.indexOf(scenario) * 100;
    await measure(scenario, { a, b, textOf, firstRound }, Number(values.rounds));
  }
}

/** Vocabularies differ by a factor of four in what they make of the same words, so the model is asked. */
async function textOfTokens(side: Side): Promise<TextOf> {
  const [few, many] = [20, 120];
  const perWord = ((await promptTokens(side, many)) - (await promptTokens(side, few))) / (many - few);
  return (tokens, seed) => text(Math.max(1, Math.round(tokens / perWord)), seed);
}

async function promptTokens(side: Side, words: number): Promise<number> {
  const messages = [{ role: 'user', content: text(words, 7) }];
  const { body } = await postJson(side, '/v1/chat/completions', { messages, max_tokens: 1 });
  return (body as { readonly usage: { readonly prompt_tokens: number } }).usage.prompt_tokens;
}

interface Match {
  readonly a: Side;
  readonly b: Side;
  readonly textOf: TextOf;
  /** Its own for each run and scenario: a side that remembers prompts for long must not meet one again. */
  readonly firstRound: number;
}

/** Threads of an engine may spin for a while after its last step, and would take the cores from the other side. */
const REST_MS = 1_000;

async function measure(
  scenario: Scenario,
  { a, b, textOf, firstRound }: Match,
  rounds: number,
): Promise<void> {
  const seen: Record<string, { a: number[]; b: number[] }> = {};
  // Round 0 warms both sides and is not counted.
  for (let round = 0; round <= rounds; round += 1) {
    const run = async (side: Side) => {
      await setTimeout(REST_MS);
      return await scenario.run(side, firstRound + round, textOf);
    };
    const figuresA = await run(a);
    const figuresB = await run(b);
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
