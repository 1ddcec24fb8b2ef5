/** Four streams while a gigabyte of state is written beside them, against the same streams while nothing is. */
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { streamChat, type StreamMeasure } from '../client/stream.ts';
import { text } from '../words.ts';
import { BenchHome } from './home.ts';

const STREAMS = 4;
const LONGEST_SAVE_MS = 30_000;

export async function writing(argv: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      model: { type: 'string', default: 'bench.gguf' },
      words: { type: 'string', default: '540' },
      tokens: { type: 'string', default: '250' },
      rounds: { type: 'string', default: '2' },
    },
  });
  const home = new BenchHome({
    SVC_NUM_CTX: '4096',
    SVC_NUM_PARALLEL: String(STREAMS),
    SVC_CACHE_RAM: '3GB',
    SVC_CACHE_DISK: '8GB',
  });
  try {
    home.install(values.model);
    await home.start();
    await home.load();
    for (let round = 0; round < Number(values.rounds); round += 1) {
      // Long conversations leave their slots to short ones, so that their state lies in memory and nowhere else.
      const seed = 100 * round;
      await conversations(home, Number(values.words), seed);
      await conversations(home, 40, seed + 50);
      const before = await savingBegins(home, round === 0 ? 0 : home.bytes());
      const beside = await streams(home, Number(values.tokens), seed + 70);
      const written = home.bytes() - before;
      await home.saved();
      const alone = await streams(home, Number(values.tokens), seed + 80);
      print(`while ${(written / 1e6).toFixed(0)} MB were written`, beside);
      print('while nothing was written', alone);
      console.log(`longest gap, with over without: ${(longest(beside) / longest(alone)).toFixed(2)}`);
    }
  } finally {
    await home.close();
  }
}

async function conversations(home: BenchHome, words: number, seed: number): Promise<void> {
  for (let at = 0; at < STREAMS; at += 1) await home.ask([{ role: 'user', content: text(words, seed + at) }]);
}

/** Bytes on the disk at the moment when there are more than before. */
async function savingBegins(home: BenchHome, before: number): Promise<number> {
  const untilMs = performance.now() + LONGEST_SAVE_MS;
  while (home.bytes() <= before) {
    if (performance.now() > untilMs) throw new Error('nothing was saved');
    await setTimeout(50);
  }
  return home.bytes();
}

function streams(home: BenchHome, maxTokens: number, seed: number): Promise<StreamMeasure[]> {
  const side = { name: 'service', url: home.url, model: 'bench', extra: { ignore_eos: true } };
  return Promise.all(
    Array.from({ length: STREAMS }, (_, at) =>
      streamChat(side, [{ role: 'user', content: text(20, seed + at) }], { maxTokens }),
    ),
  );
}

/** Not counted: the first tokens, beside which prompts of the others are evaluated. */
function gapsOf(measured: readonly StreamMeasure[]): number[] {
  return measured.flatMap(({ gapsMs }) => gapsMs.slice(10)).sort((a, b) => a - b);
}

const longest = (measured: readonly StreamMeasure[]): number => gapsOf(measured).at(-1) ?? Number.NaN;

function print(name: string, measured: readonly StreamMeasure[]): void {
  const gaps = gapsOf(measured);
  const at = (share: number): string => (gaps[Math.floor((gaps.length - 1) * share)] ?? 0).toFixed(1);
  console.log(`${name}: ${gaps.length} gaps, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${at(1)} ms`);
}
