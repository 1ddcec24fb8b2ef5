/**
 * Whether a load beside other programs slows later answers: the model is loaded for the first time while hogs run, they
 * end, and the throughput of the minute after that is compared with the same minute of a quiet start.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import type { Side } from '../client/side.ts';
import { streamChat } from '../client/stream.ts';
import { serve } from '../served.ts';
import { median, rounded } from '../statistics.ts';
import { text } from '../words.ts';
import { HOG_KINDS, type HogKind, startHogs } from './hogs.ts';

interface Options {
  readonly model: string;
  readonly rounds: number;
  /** How long hogs run beside answers after the load, and how long throughput is measured after them, seconds. */
  readonly hogSeconds: number;
  readonly seconds: number;
  readonly streams: number;
}

/** Tokens per second, and the thread count at the end. */
interface Measure {
  readonly whole: number;
  readonly lastThird: number;
  readonly threads: number | null;
}

interface Answer {
  readonly fromMs: number;
  readonly toMs: number;
  readonly tokens: number;
}

const MODEL_ID = 'bench';
const ANSWER_TOKENS = 64;

export async function threads(argv: readonly string[]): Promise<void> {
  const options = readOptions(argv);
  const ratios = new Map<HogKind, { whole: number[]; lastThird: number[] }>(
    HOG_KINDS.map((kind) => [kind, { whole: [], lastThird: [] }]),
  );
  for (let round = 0; round < options.rounds; round += 1) {
    const quiet = await measure('none', options);
    report('none', quiet);
    for (const kind of HOG_KINDS) {
      const after = await measure(kind, options);
      report(kind, after);
      ratios.get(kind)?.whole.push(after.whole / quiet.whole);
      ratios.get(kind)?.lastThird.push(after.lastThird / quiet.lastThird);
    }
  }
  for (const [kind, { whole, lastThird }] of ratios) {
    const [all, late] = [whole, lastThird].map((found) => rounded(median(found)));
    console.log(`after ${kind} hogs: ${all} of a quiet start, ${late} in the last third`);
  }
}

function readOptions(argv: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      model: { type: 'string' },
      rounds: { type: 'string', default: '3' },
      'hog-seconds': { type: 'string', default: '20' },
      seconds: { type: 'string', default: '60' },
      streams: { type: 'string', default: '1' },
    },
  });
  if (values.model === undefined) throw new Error('--model FILE is missing; write one with: bench -- model');
  return {
    model: path.resolve(values.model),
    rounds: Number(values.rounds),
    hogSeconds: Number(values['hog-seconds']),
    seconds: Number(values.seconds),
    streams: Number(values.streams),
  };
}

/** A server of its own each time, whose home remembers nothing. */
async function measure(kind: HogKind | 'none', options: Options): Promise<Measure> {
  const home = mkdtempSync(path.join(tmpdir(), 'hearth-bench-threads-'));
  const env = { SVC_HOME: home };
  execFileSync(
    process.execPath,
    [path.resolve('bin', 'hearth.js'), 'import', options.model, '--id', MODEL_ID, '--no-probe'],
    { env: { ...process.env, ...env }, stdio: ['ignore', 'ignore', 'inherit'] },
  );
  const served = await serve(18_830, env);
  const side: Side = { name: kind, url: served.url, model: MODEL_ID };
  const endHogs = startHogs(kind);
  try {
    await answers(side, options.hogSeconds * 1000, options.streams);
    await endHogs();
    const begin = performance.now();
    const ms = options.seconds * 1000;
    const all = await answers(side, ms, options.streams);
    const end = begin + ms;
    const { threads: count } = await residency(side);
    return { whole: rate(all, begin, end), lastThird: rate(all, end - ms / 3, end), threads: count };
  } finally {
    await endHogs();
    await served.close();
    rmSync(home, { recursive: true, force: true });
  }
}

let prompts = 0;

/** Asks for one answer after the other until the time is up; the last ones may end later. */
async function answers(side: Side, ms: number, streams: number): Promise<Answer[]> {
  const all: Answer[] = [];
  const endMs = performance.now() + ms;
  const client = async (): Promise<void> => {
    for (let fromMs = performance.now(); fromMs < endMs; fromMs = performance.now()) {
      prompts += 1;
      const messages = [{ role: 'user', content: text(30, prompts) } as const];
      const { tokens } = await streamChat(side, messages, { maxTokens: ANSWER_TOKENS });
      all.push({ fromMs, toMs: performance.now(), tokens });
    }
  };
  await Promise.all(Array.from({ length: streams }, client));
  return all;
}

/** Tokens per second between two times; a chunk of a stream can hold several, so they count evenly over their answer. */
function rate(all: readonly Answer[], fromMs: number, toMs: number): number {
  const within = all.map((each) => {
    const shared = Math.min(each.toMs, toMs) - Math.max(each.fromMs, fromMs);
    return (each.tokens * Math.max(0, shared)) / (each.toMs - each.fromMs);
  });
  return (within.reduce((total, tokens) => total + tokens, 0) * 1000) / (toMs - fromMs);
}

async function residency(side: Side): Promise<{ threads: number | null }> {
  const response = await fetch(`${side.url}/svc/residency`);
  const { data } = (await response.json()) as { data: { threads: number | null }[] };
  return { threads: data[0]?.threads ?? null };
}

function report(kind: string, { whole, lastThird, threads: count }: Measure): void {
  console.log(
    `${kind}: ${rounded(whole)} tok/s, ${rounded(lastThird)} in the last third, on ${count} threads`,
  );
}
