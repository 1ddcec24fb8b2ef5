/**
 * bench/upstream owns what a request to a model of an upstream costs beside asking that upstream itself: the time and the
 * processor time of a one-token answer, and the speed of many streams. It knows nothing of how the upstream computes.
 */
import { fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { Agent } from 'node:http';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ask } from '../client/ask.ts';
import { processorMs } from '../process-memory.ts';
import { serve } from '../served.ts';
import { median, quantile, rounded } from '../statistics.ts';
import { text } from '../words.ts';

const PORT = 18_768;
const NAME = 'there';

interface Place {
  readonly url: string;
  readonly model: string;
}

/** The upstream itself, and the same through Hearth. */
interface Sides {
  readonly direct: Place;
  readonly through: Place;
}

export async function upstream(argv: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      url: { type: 'string' },
      model: { type: 'string', default: 'tiny' },
      rounds: { type: 'string', default: '400' },
      // A young server runs code that V8 has not compiled yet, which takes twice as long.
      'warm-up': { type: 'string', default: '1000' },
      streams: { type: 'string', default: '64' },
      tokens: { type: 'string', default: '32' },
      turns: { type: 'string', default: '6' },
    },
  });
  const there = values.url === undefined ? await startAnswerer() : { url: values.url, close: () => {} };
  const home = mkdtempSync(path.join(tmpdir(), 'hearth-bench-'));
  addUpstream(home, there.url);
  const served = await serve(PORT, { SVC_HOME: home });
  const sides: Sides = {
    direct: { url: there.url, model: values.model },
    through: { url: served.url, model: `${NAME}/${values.model}` },
  };
  try {
    for (const stream of [false, true])
      await oneToken(sides, { rounds: Number(values.rounds), warmUp: Number(values['warm-up']), stream });
    const { streams, tokens, turns } = values;
    await manyStreams(sides, { streams: Number(streams), tokens: Number(tokens), turns: Number(turns) });
  } finally {
    await served.close();
    there.close();
    rmSync(home, { recursive: true, force: true });
  }
}

async function startAnswerer() {
  const child = fork(fileURLToPath(new URL('./answerer.js', import.meta.url)));
  const [port] = (await once(child, 'message')) as [number];
  return { url: `http://127.0.0.1:${port}`, close: () => void child.kill() };
}

function addUpstream(home: string, url: string): void {
  const bin = path.resolve('bin', 'hearth.js');
  const env = { ...process.env, SVC_HOME: home, SVC_PORT: String(PORT) };
  const { status, stderr } = spawnSync(process.execPath, [bin, 'upstream', 'add', NAME, url], { env });
  if (status !== 0) throw new Error(String(stderr));
}

/** In pairs, each side first in every other one. */
async function oneToken(
  { direct, through }: Sides,
  { rounds, warmUp, stream }: { readonly rounds: number; readonly warmUp: number; readonly stream: boolean },
): Promise<void> {
  const [alone, added]: [number[], number[]] = [[], []];
  let beforeMs = 0;
  for (let round = -warmUp; round < rounds; round += 1) {
    if (round === 0) beforeMs = processorMs(PORT);
    const content = text(4, round + warmUp);
    const asked = async (place: Place): Promise<number> => (await answer(place, { content, stream })).ms;
    let [directMs, throughMs] = [0, 0];
    const ways = [
      async () => void (directMs = await asked(direct)),
      async () => void (throughMs = await asked(through)),
    ];
    for (const way of round % 2 === 0 ? ways : ways.toReversed()) await way();
    if (round < 0) continue;
    alone.push(directMs);
    added.push(throughMs - directMs);
  }
  const spentMs = processorMs(PORT) - beforeMs;
  const at = (samples: readonly number[], share: number): number => rounded(quantile(samples, share));
  console.log(
    `one token, ${stream ? 'streamed' : 'whole'}: directly p50 ${at(alone, 0.5)}, p99 ${at(alone, 0.99)} ms;` +
      ` added p50 ${at(added, 0.5)}, p99 ${at(added, 0.99)} ms of ${rounds};` +
      ` processor time of the server ${rounded(spentMs / rounds)} ms`,
  );
}

const answer = (
  { url, model }: Place,
  { content, stream, tokens = 1 }: { content: string; stream: boolean; tokens?: number },
  via?: Agent,
) =>
  ask(
    `${url}/v1/chat/completions`,
    { model, messages: [{ role: 'user', content }], max_tokens: tokens, temperature: 0, stream },
    via,
  );

interface Load {
  readonly streams: number;
  readonly tokens: number;
  readonly turns: number;
}

async function manyStreams({ direct, through }: Sides, load: Load): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: load.streams });
  const rate = async (place: Place, turn: number): Promise<number> => {
    const begin = performance.now();
    await Promise.all(
      Array.from({ length: load.streams }, (_, at) =>
        answer(
          place,
          { content: text(4, turn * load.streams + at), stream: true, tokens: load.tokens },
          agent,
        ),
      ),
    );
    return (1000 * load.streams * load.tokens) / (performance.now() - begin);
  };
  await rate(direct, 0);
  await rate(through, 0);
  const [alone, ratios]: [number[], number[]] = [[], []];
  const beforeMs = processorMs(PORT);
  for (let turn = 1; turn <= load.turns; turn += 1) {
    let [directRate, throughRate] = [0, 0];
    const ways = [
      async () => void (directRate = await rate(direct, turn)),
      async () => void (throughRate = await rate(through, turn)),
    ];
    for (const way of turn % 2 === 0 ? ways : ways.toReversed()) await way();
    alone.push(directRate);
    ratios.push(throughRate / directRate);
  }
  const each = (processorMs(PORT) - beforeMs) / (load.turns * load.streams * load.tokens);
  console.log(
    `${load.streams} streams of ${load.tokens} tokens: directly ${rounded(median(alone))} tok/s; through Hearth` +
      ` ${rounded(median(ratios))} of it (${rounded(Math.min(...ratios))} to ${rounded(Math.max(...ratios))});` +
      ` processor time of the server ${rounded(1000 * each)} µs a token`,
  );
  agent.destroy();
}
