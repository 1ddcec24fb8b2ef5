/**
 * Images at a service and at llama-server with the same files: time to the first token of a new image, in turn; and the
 * longest gap of another stream of the service alone, while a text is read, and while an image is encoded.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { writeTinyProjector } from '../../tools/models/tiny-projector.ts';
import type { Side } from '../client/side.ts';
import { type Message, streamChat } from '../client/stream.ts';
import { firstHealth, serve } from '../served.ts';
import { median, rounded } from '../statistics.ts';
import { text } from '../words.ts';
import { randomBmp } from './bmp.ts';

const PORTS = { hearth: 18_770, llamaServer: 18_771 } as const;
/** A vision transformer of 22 million weights, 144 rows for an image. */
const SHAPE = { width: 384, heads: 6, feedForward: 1536, imagePixels: 336, patchPixels: 14, layers: 12 };
const WORDS_OF_TEXT = 110;

export async function images(argv: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      libraries: { type: 'string' },
      model: { type: 'string' },
      projector: { type: 'string' },
      /** Of the model, for a projector of random weights. */
      width: { type: 'string', default: '640' },
      'llama-server': { type: 'string' },
      rounds: { type: 'string', default: '7' },
      threads: { type: 'string', default: String(availableParallelism()) },
      tokens: { type: 'string', default: '120' },
    },
  });
  const { libraries, model, 'llama-server': program, threads } = values;
  if (libraries === undefined || model === undefined)
    throw new Error('name --libraries FOLDER, which has libmtmd, and --model FILE');
  const folder = await mkdtemp(path.join(tmpdir(), 'hearth-bench-images-'));
  try {
    const projector = values.projector ?? path.join(folder, 'mmproj.gguf');
    if (values.projector === undefined)
      await writeTinyProjector(projector, { width: Number(values.width), shape: SHAPE });
    const rounds = Number(values.rounds);
    const hearth = await startHearth(folder, { libraries, model, projector, threads });
    const other =
      program === undefined ? null : await startLlamaServer(program, { model, projector, threads });
    try {
      await firstTokens(other === null ? [hearth.side] : [hearth.side, other.side], rounds);
      await gaps(hearth.side, rounds, Number(values.tokens));
    } finally {
      await other?.close();
      await hearth.close();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface Started {
  readonly side: Side;
  close(): Promise<void>;
}

interface Files {
  readonly model: string;
  readonly projector: string;
  readonly threads: string;
}

async function startHearth(
  folder: string,
  { libraries, model, projector, threads }: Files & { readonly libraries: string },
): Promise<Started> {
  const home = path.join(folder, 'home');
  await mkdir(home);
  await symlink(path.resolve(libraries), path.join(home, 'libraries'));
  const env = { SVC_HOME: home, SVC_NUM_THREADS: threads };
  const line = ['bin/hearth.js', 'import', model, '--id', 'eyes', '--projector', projector];
  await promisify(execFile)(process.execPath, line, { env: { ...process.env, ...env } });
  const served = await serve(PORTS.hearth, env);
  return { side: sideOf('hearth', served.url), close: () => served.close() };
}

async function startLlamaServer(program: string, { model, projector, threads }: Files): Promise<Started> {
  const port = String(PORTS.llamaServer);
  const files = ['-m', model, '--mmproj', projector, '--host', '127.0.0.1', '--port', port];
  const rest = ['--jinja', '--chat-template', 'chatml', '-c', '8192', '-np', '2', '-t', threads];
  const child = spawn(program, [...files, ...rest], { stdio: 'ignore' });
  const url = `http://127.0.0.1:${port}`;
  await firstHealth(url, performance.now());
  const close = async (): Promise<void> => {
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  };
  return { side: sideOf('llama-server', url), close };
}

const sideOf = (name: string, url: string): Side => ({
  name,
  url,
  model: 'eyes',
  extra: { ignore_eos: true },
});

function showing(seed: number): Message[] {
  const url = `data:image/bmp;base64,${randomBmp(336, 336, seed).toString('base64')}`;
  const content = [
    { type: 'text', text: `${text(20, seed)} ` },
    { type: 'image_url', image_url: { url } },
  ];
  return [{ role: 'user', content }];
}

const saying = (words: number, seed: number): Message[] => [{ role: 'user', content: text(words, seed) }];

async function firstTokens(sides: readonly Side[], rounds: number): Promise<void> {
  const times = new Map(sides.map(({ name }) => [name, [] as number[]]));
  // The first round is not counted.
  for (let round = 0; round <= rounds; round += 1) {
    for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
      const { firstTokenMs } = await streamChat(side, showing(round), { maxTokens: 1 });
      if (round > 0) times.get(side.name)?.push(firstTokenMs);
    }
  }
  for (const [name, ms] of times) report(`time to the first token of a new image, ${name}, ms`, median(ms));
  const [ours = [], theirs] = [...times.values()];
  if (theirs === undefined) return;
  const ratio = median(ours.map((ms, at) => ms / (theirs[at] ?? ms)));
  report('  hearth / llama-server (goal: 1.05 at most)', ratio);
}

/** What is asked while the stream runs, with its twelfth token. */
const BESIDE = {
  alone: () => null,
  'while a text is read': (seed: number) => saying(WORDS_OF_TEXT, seed),
  'while an image is encoded': showing,
} as const;

async function gaps(side: Side, rounds: number, tokens: number): Promise<void> {
  const longest = new Map(Object.keys(BESIDE).map((name) => [name, [] as number[]]));
  for (let round = 0; round <= rounds; round += 1) {
    for (const [at, [name, messagesOf]] of Object.entries(BESIDE).entries()) {
      const seed = 1_000 + 10 * round + at;
      const messages = messagesOf(seed);
      const gap = await longestGap(side, { seed, tokens, messages });
      if (round > 0) longest.get(name)?.push(gap);
    }
  }
  for (const [name, ms] of longest) report(`longest gap of a stream, ${name}, ms`, median(ms));
  const [alone = [], read = [], encoded = []] = [...longest.values()];
  const against = (others: readonly number[]): number =>
    median(encoded.map((ms, at) => ms / (others[at] ?? ms)));
  report('  image / alone (goal: 1.5 at most)', against(alone));
  report('  image / text', against(read));
}

async function longestGap(
  side: Side,
  {
    seed,
    tokens,
    messages,
  }: { readonly seed: number; readonly tokens: number; readonly messages: Message[] | null },
): Promise<number> {
  const besides: Promise<unknown>[] = [];
  const onToken = (count: number): void => {
    if (count === 12 && messages !== null) besides.push(streamChat(side, messages, { maxTokens: 1 }));
  };
  const { gapsMs } = await streamChat(side, saying(20, seed), { maxTokens: tokens, onToken });
  await Promise.all(besides);
  return Math.max(...gapsMs);
}

const report = (name: string, value: number): void => console.log(`${name}: ${rounded(value)}`);
