/**
 * Many clients against a running service for a while: short streamed chat requests back to back. Asked is whether
 * anything fails, whether every client gets its share, and whether memory stays where it was.
 */
import { parseArgs } from 'node:util';
import { baseUrl, portOf, Refusal, type Side } from './client/side.ts';
import { type Message, streamChat } from './client/stream.ts';
import { type ProcessMemory, sampleMemory } from './process-memory.ts';
import { median, quantile, rounded } from './statistics.ts';
import { text } from './words.ts';

/** Until then memory grows by itself: the pages of a KV cache are first used as its sequences fill. */
const WARM_UP_MS = 30_000;
const MOST_CLIENTS = 1_000;
const MOST_SECONDS = 3_600;
const MOST_REQUESTS = 1_000_000;
/** A request that takes longer than this has failed. */
const REQUEST_TIMEOUT_MS = 60_000;
/** A refused client comes back after this; at once would measure the refusals only. */
const RETRY_AFTER_MS = 250;

interface Options {
  readonly url: string;
  readonly model: string;
  readonly clients: number;
  readonly seconds: number;
  readonly maxTokens: number;
}

/** What one client met between the warm-up and the end; errors of the warm-up count too. */
interface Tally {
  answers: number;
  refused: number;
  readonly errors: string[];
  readonly totalMs: number[];
  readonly firstTokenMs: number[];
}

/** When the load is measured, and how many requests it may still send. */
interface Course {
  readonly countFrom: number;
  readonly end: number;
  left: number;
}

export async function soak(argv: readonly string[]): Promise<void> {
  const options = readOptions(argv);
  const begin = performance.now();
  const countFrom = begin + WARM_UP_MS;
  const course: Course = { countFrom, end: countFrom + options.seconds * 1000, left: MOST_REQUESTS };
  const port = portOf(options.url);
  const clients = Array.from({ length: options.clients }, (_, at) => runClient(options, at, course));
  // All under load, the last one too: after the last answer memory says nothing about the load.
  const times = [course.countFrom, (course.countFrom + course.end) / 2, course.end];
  const samples = times.map((time) => sampleMemoryAt(time, port));
  const tallies = await Promise.all(clients);
  report(options, tallies, course.left === 0);
  reportMemory(await Promise.all(samples));
}

function readOptions(argv: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      url: { type: 'string' },
      model: { type: 'string', default: 'default' },
      clients: { type: 'string', default: '32' },
      seconds: { type: 'string', default: '60' },
      tokens: { type: 'string', default: '16' },
    },
  });
  if (values.url === undefined) throw new Error('give the base URL of a running service: --url URL');
  return {
    url: baseUrl(values.url),
    model: values.model,
    clients: bounded('clients', values.clients, MOST_CLIENTS),
    seconds: bounded('seconds', values.seconds, MOST_SECONDS),
    maxTokens: bounded('tokens', values.tokens, 4096),
  };
}

function bounded(name: string, value: string, most: number): number {
  const number = Number(value);
  if (Number.isInteger(number) && number >= 1 && number <= most) return number;
  throw new Error(`--${name} is a whole number from 1 to ${most}`);
}

async function runClient(options: Options, at: number, course: Course): Promise<Tally> {
  const tally: Tally = { answers: 0, refused: 0, errors: [], totalMs: [], firstTokenMs: [] };
  const side: Side = {
    name: `client ${at}`,
    url: options.url,
    model: options.model,
    // Clients of one machine and one program are one to the service unless they name themselves.
    clientId: `soak-${at}`,
  };
  for (let turn = 0; performance.now() < course.end && course.left > 0; turn += 1) {
    course.left -= 1;
    await ask(side, at * 1_000_003 + turn, options.maxTokens, tally, course);
  }
  return tally;
}

async function ask(
  side: Side,
  seed: number,
  maxTokens: number,
  tally: Tally,
  { countFrom }: Course,
): Promise<void> {
  const begin = performance.now();
  const messages: Message[] = [{ role: 'user', content: text(8, seed) }];
  try {
    const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
    const measure = await streamChat(side, messages, { maxTokens, signal });
    if (begin < countFrom) return;
    tally.answers += 1;
    tally.totalMs.push(measure.totalMs);
    tally.firstTokenMs.push(measure.firstTokenMs);
  } catch (error) {
    if (error instanceof Refusal && error.status === 429) tally.refused += 1;
    else tally.errors.push(kindOf(error));
    await sleep(RETRY_AFTER_MS);
  }
}

/** Errors that differ in numbers only are of one kind. */
function kindOf(error: unknown): string {
  if (error instanceof Refusal) return `status ${error.status}`;
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? ` (${error.cause.message})` : '';
  return `${error.name}: ${error.message}${cause}`.replaceAll(/\d+/g, 'N').slice(0, 160);
}

async function sampleMemoryAt(time: number, port: number): Promise<ProcessMemory[]> {
  await sleep(time - performance.now());
  return sampleMemory(port);
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)));

function report(options: Options, tallies: readonly Tally[], isCut: boolean): void {
  const answers = tallies.map((tally) => tally.answers);
  const [slowest, middle] = [Math.min(...answers), median(answers)];
  const refused = tallies.reduce((total, tally) => total + tally.refused, 0);
  console.log(`${options.clients} clients, ${options.seconds} s after a warm-up of ${WARM_UP_MS / 1000} s`);
  if (isCut) console.log(`ended early after ${MOST_REQUESTS} requests`);
  console.log(`answers: ${answers.reduce((total, count) => total + count, 0)}`);
  console.log(`refused with 429: ${refused}`);
  reportErrors(tallies.flatMap((tally) => tally.errors));
  const ratio = middle === 0 ? Number.NaN : rounded(slowest / middle);
  console.log(`answers per client: slowest ${slowest}, median ${middle}, slowest/median ${ratio}`);
  reportTimes(
    'first token',
    tallies.flatMap((tally) => tally.firstTokenMs),
  );
  reportTimes(
    'whole answer',
    tallies.flatMap((tally) => tally.totalMs),
  );
}

function reportErrors(errors: readonly string[]): void {
  console.log(`errors: ${errors.length}`);
  for (const kind of new Set(errors))
    console.log(`  ${errors.filter((each) => each === kind).length} x ${kind}`);
}

function reportTimes(name: string, samples: readonly number[]): void {
  if (samples.length === 0) return;
  const [p50, p99] = [quantile(samples, 0.5), quantile(samples, 0.99)].map(rounded);
  console.log(`${name}: p50 ${p50} ms, p99 ${p99} ms`);
}

/** Caches fill at first, so growth that means something is growth from half-time on. */
function reportMemory(samples: readonly (readonly ProcessMemory[])[]): void {
  const seen = new Map(samples.flat().map(({ pid, role }) => [pid, role]));
  if (seen.size === 0) {
    console.log('memory: the server process was not found (Linux, same machine and user only)');
    return;
  }
  for (const [pid, role] of seen) {
    const bytes = samples.map((sample) => sample.find((each) => each.pid === pid)?.bytes ?? null);
    console.log(`memory of ${role} ${pid}: ${memoryCourse(bytes)}`);
  }
  console.log(`memory together of those seen throughout: ${memoryCourse(samples.map(lasting(samples)))}`);
}

/** Sums a sample without processes that came or went: a spare worker is started meanwhile, and is no growth. */
function lasting(samples: readonly (readonly ProcessMemory[])[]) {
  const isLasting = (pid: number): boolean =>
    samples.every((sample) => sample.some((each) => each.pid === pid));
  return (sample: readonly ProcessMemory[]): number =>
    sample.filter(({ pid }) => isLasting(pid)).reduce((bytes, each) => bytes + each.bytes, 0);
}

function memoryCourse([start = null, half = null, end = null]: readonly (number | null)[]): string {
  const growth = half === null || end === null || half === 0 ? Number.NaN : rounded(end / half);
  return `${mebibytes(start)} at the start, ${mebibytes(half)} half-way, ${mebibytes(end)} at the end, end/half ${growth}`;
}

const mebibytes = (bytes: number | null): string =>
  bytes === null ? 'not there' : `${(bytes / 2 ** 20).toFixed(1)} MiB`;
