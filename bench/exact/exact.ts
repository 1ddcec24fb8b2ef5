/**
 * What exact=on costs: one file under two ids in one service, with exact=on (a) and without (b), scenario by scenario in
 * turn; then frozen-v1 on the exact one, four at once against one after the other; then the memory of both.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { post, type Side } from '../client/side.ts';
import { streamChat } from '../client/stream.ts';
import { type Match, measure } from '../compare/compare.ts';
import type { Goal } from '../compare/goals.ts';
import { asking, decodeRate, SAMPLED, type Scenario, story, type TextOf } from '../compare/scenario.ts';
import { promptScenarios } from '../compare/prompts.ts';
import { streamScenarios } from '../compare/streams.ts';
import { HEADER, row } from '../compare/table.ts';
import { textOfTokens } from '../compare/text-of-tokens.ts';
import { compareNeighbours, inTurn, type Pair } from '../neighbours.ts';
import { serve } from '../served.ts';
import { type Figures, perSecond } from '../statistics.ts';

const PORT = 18_767;
const SLOTS = 8;
const WINDOW = 8192;
const FROZEN_AT_ONCE = 4;
const ANSWER_TOKENS = 48;

const least = (ratio: number): Goal => ({ bound: 'at least', ratio });
const most = (ratio: number): Goal => ({ bound: 'at most', ratio });

/** By scenario and figure; only these are printed. */
const GOALS: Readonly<Record<string, Readonly<Record<string, Goal>>>> = {
  decode: { 'decode tok/s': least(0.97) },
  'concurrency-2': { 'tok/s together': least(0.97) },
  'concurrency-4': { 'tok/s together': least(0.95) },
  'concurrency-8': { 'tok/s together': least(0.9) },
  'prefill-512': { 'prompt tok/s': least(0.85) },
  'deep-4096': { 'prompt tok/s': least(0.75), 'decode tok/s': least(1) },
  prefix: { 'later turns first token p50 ms': most(1.1) },
  'frozen-4': { 'answers/s': least(1.5) },
};

/** A long prompt, and decoding behind it. */
const deep: Scenario = {
  name: 'deep-4096',
  describe: 'one prompt of about 4,096 tokens, 64 tokens',
  cold: true,
  run: async (side, round, textOf) => {
    const measured = await streamChat(side, story(textOf(4096, 7_000 + round)), { maxTokens: 64 });
    return {
      'prompt tok/s': perSecond(measured.promptTokens ?? 4096, measured.firstTokenMs),
      'decode tok/s': decodeRate(measured),
    };
  },
};

const SCENARIOS: readonly Scenario[] = [...streamScenarios, ...promptScenarios, deep].filter(
  ({ name }) => name in GOALS,
);

export async function exact(argv: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      file: { type: 'string' },
      rounds: { type: 'string', default: '3' },
      seed: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000)) },
      only: { type: 'string' },
    },
  });
  const { file } = values;
  if (file === undefined) throw new Error('give the model: --file GGUF');
  const only = values.only?.split(',');
  const home = mkdtempSync(path.join(tmpdir(), 'hearth-bench-exact-'));
  const env = { SVC_HOME: home, SVC_NUM_PARALLEL: String(SLOTS) };
  const hearth = (...args: string[]): string =>
    execFileSync(process.execPath, [path.resolve('bin', 'hearth.js'), ...args], {
      env: { ...process.env, ...env, SVC_PORT: String(PORT) },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    });
  for (const id of ['exact', 'usual']) hearth('import', file, '--id', id);
  hearth('set', 'exact', 'exact=on', `num_ctx=${WINDOW}`);
  hearth('set', 'usual', `num_ctx=${WINDOW}`);
  const served = await serve(PORT, env);
  try {
    const extra = { ...(JSON.parse(SAMPLED) as object), ignore_eos: true };
    const side = (name: string, model: string): Side => ({ name, model, url: served.url, extra });
    const [a, b] = [side('a', 'exact'), side('b', 'usual')];
    const textOf = await textOfTokens(a);
    console.log(
      `${cpus()[0]?.model ?? 'unknown'}, ${cpus().length} cores; --seed ${values.seed}; a: exact=on, b: without\n\n${HEADER}`,
    );
    const rounds = Number(values.rounds);
    for (const [at, scenario] of SCENARIOS.entries()) {
      if (only !== undefined && !only.includes(scenario.name)) continue;
      const goals = GOALS[scenario.name] ?? {};
      const match: Match = {
        a,
        b,
        textOf,
        firstRound: Number(values.seed) * 1000 + at * 100,
        goalOf: (figure) => goals[figure] ?? null,
        shows: (figure) => figure in goals,
      };
      await measure(scenario, match, rounds);
    }
    if (only === undefined || only.includes('frozen-4')) await frozen(a, textOf, rounds, Number(values.seed));
    console.log(`\n${SLOTS} slots of ${WINDOW} tokens:\n${hearth('ps')}`);
  } finally {
    await served.close();
    rmSync(home, { recursive: true, force: true });
  }
}

/** Records of four answers: asked for at once (a), and one after the other (b). */
async function frozen(side: Side, textOf: TextOf, rounds: number, seed: number): Promise<void> {
  const pairs: Pair[] = [];
  for (let round = -1; round < rounds; round += 1) {
    const ask = async (way: number, at: number): Promise<void> => {
      const words = textOf(60, seed * 1000 + (round + 1) * 20 + way * 10 + at);
      const body = {
        model: side.model,
        messages: asking(words),
        max_tokens: ANSWER_TOKENS,
        ignore_eos: true,
        svc_evidence: 'frozen-v1',
      };
      await (await post(side, '/v1/chat/completions', body, null)).arrayBuffer();
    };
    const all = Array.from({ length: FROZEN_AT_ONCE }, (_, at) => at);
    const timed = async (run: () => Promise<unknown>): Promise<Figures> => {
      const begun = performance.now();
      await run();
      return { 'answers/s': perSecond(FROZEN_AT_ONCE, performance.now() - begun) };
    };
    const pair = await inTurn(
      round + 1,
      () => timed(() => Promise.all(all.map((at) => ask(0, at)))),
      () =>
        timed(async () => {
          for (const at of all) await ask(1, at);
        }),
    );
    if (round >= 0) pairs.push(pair);
  }
  for (const found of compareNeighbours(pairs))
    console.log(row('frozen-4', found, GOALS['frozen-4']?.[found.figure] ?? null));
}
