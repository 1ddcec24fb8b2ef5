/**
 * What frozen-v1 costs: the same prompts as a normal and as a frozen request, in turns; then what a stream of frozen
 * requests takes from ordinary ones beside it. Without --file the default model of an empty home is measured.
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

interface Sample {
  readonly ms: number;
  readonly promptMs: number;
  readonly perTokenMs: number;
  readonly digest: string;
}

interface Answer {
  readonly usage: { readonly completion_tokens: number };
  readonly timings: { readonly prompt_ms: number; readonly predicted_ms: number };
  readonly evidence?: { readonly output_tokens: string };
}

export async function frozen(argv: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      file: { type: 'string' },
      rounds: { type: 'string', default: '7' },
      tokens: { type: 'string', default: '64' },
      words: { type: 'string', default: '40,400' },
    },
  });
  const home = mkdtempSync(path.join(tmpdir(), 'hearth-bench-frozen-'));
  const env = { SVC_HOME: home };
  if (values.file !== undefined) importModel(values.file, env);
  const served = await serve(18_761, env);
  const side: Side = {
    name: 'hearth',
    url: served.url,
    model: values.file === undefined ? 'default' : 'bench',
  };
  const maxTokens = Number(values.tokens);
  try {
    for (const words of values.words.split(',').map(Number))
      await alternate(side, { words, maxTokens, rounds: Number(values.rounds) });

    await beside(side, maxTokens);
  } finally {
    await served.close();
    rmSync(home, { recursive: true, force: true });
  }
}

function importModel(file: string, env: Readonly<Record<string, string>>): void {
  execFileSync(process.execPath, [path.resolve('bin', 'hearth.js'), 'import', file, '--id', 'bench'], {
    env: { ...process.env, ...env },
    stdio: 'inherit',
  });
}

async function alternate(
  side: Side,
  sizes: { readonly words: number; readonly maxTokens: number; readonly rounds: number },
): Promise<void> {
  const normal: Sample[] = [];
  const frozenRuns: Sample[] = [];
  await ask(side, -1, sizes, false);
  for (let round = 0; round < sizes.rounds; round += 1) {
    // Another text each round, so that the normal side cannot reuse a prompt; both sides see the same texts.
    normal.push(await ask(side, round, sizes, false));
    frozenRuns.push(await ask(side, round, sizes, true));
  }
  const line = (name: string, pick: (sample: Sample) => number): void => {
    const [a, b] = [median(normal.map(pick)), median(frozenRuns.map(pick))];
    console.log(`  ${name}: normal ${rounded(a)}, frozen ${rounded(b)}, ratio ${rounded(b / a)}`);
  };
  console.log(`${sizes.words} words in, ${sizes.maxTokens} tokens out, ${sizes.rounds} rounds`);
  line('whole request, ms', ({ ms }) => ms);
  line('prefill, ms', ({ promptMs }) => promptMs);
  line('per token, ms', ({ perTokenMs }) => perTokenMs);
  const again = await ask(side, 0, sizes, true);
  console.log(
    `  the first frozen answer again: ${again.digest === frozenRuns[0]?.digest ? 'equal' : 'DIFFERENT'}`,
  );
}

async function ask(
  side: Side,
  seed: number,
  { words, maxTokens }: { readonly words: number; readonly maxTokens: number },
  isFrozen: boolean,
): Promise<Sample> {
  const messages = [{ role: 'user', content: text(words, seed + 1000) }];
  const begin = performance.now();
  const response = await fetch(`${side.url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(isFrozen ? { 'x-svc-evidence-mode': 'frozen-v1' } : {}),
    },
    body: JSON.stringify({ model: side.model, messages, max_tokens: maxTokens, temperature: 0 }),
  });
  const body = (await response.json()) as Answer;
  if (!response.ok) throw new Error(JSON.stringify(body));
  return {
    ms: performance.now() - begin,
    promptMs: body.timings.prompt_ms,
    perTokenMs: body.timings.predicted_ms / Math.max(1, body.usage.completion_tokens - 1),
    digest: body.evidence?.output_tokens ?? '',
  };
}

/** Four ordinary streams, alone and beside one frozen request after the other. */
async function beside(side: Side, maxTokens: number): Promise<void> {
  const streams = async (): Promise<number> => {
    const begin = performance.now();
    const runs = Array.from({ length: 4 }, (_, seed) =>
      streamChat(side, [{ role: 'user', content: text(30, seed) }], { maxTokens: 2 * maxTokens }),
    );
    const tokens = (await Promise.all(runs)).reduce((sum, run) => sum + run.tokens, 0);
    return (1000 * tokens) / (performance.now() - begin);
  };
  await streams();
  const alone = await streams();
  const stop = new AbortController();
  let answers = 0;
  const frozenTraffic = (async () => {
    for (; !stop.signal.aborted; answers += 1) await ask(side, answers, { words: 40, maxTokens }, true);
  })();
  const shared = await streams();
  stop.abort();
  await frozenTraffic;
  console.log(
    `four ordinary streams: ${rounded(alone)} tok/s alone, ${rounded(shared)} tok/s beside ${answers} frozen answers`,
  );
}
