/**
 * A day's requests of every kind, one behind the other from several clients: each is answered as on the first day, and
 * afterwards the service has no more processes, open files or memory than before. Played for twenty minutes or more, the
 * growth of memory means something, and is held to its limit.
 */
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll } from 'vitest';
import type { Random } from '../../../tools/gguf/random.ts';
import { type Book, pick, scenario } from '../campaign.ts';
import { CampaignService } from '../service.ts';
import { type Footprint, growthOf } from './growth.ts';

const CLIENTS = 8;
const REQUESTS_A_ROUND = 400;
/** Between two looks at memory, of which the least counts: what lies above it is garbage that waits to be collected. */
const LOOK_EVERY_MS = 200;
const MOST_MIB_A_MINUTE = 1;
/** Files that the server may have open beyond those of the first round: connections that end at this moment. */
const FILES_TO_SPARE = 3 * CLIENTS;
const FILES_CLOSE_MS = 10_000;
const chat = { model: 'tiny', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 8, temperature: 0 };
/** So many that the heap of their worker, whose garbage is collected as it fills, is as large as it gets within minutes. */
const TEXTS = Array.from({ length: 16 }, (_, at) => `text ${at}`);
const PERSON = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };

/** Says what is wrong with the answer, or null; `chance` was drawn for this request, from 0 to a million. */
type Kind = (chance: number) => Promise<string | null>;

interface Planned {
  readonly name: string;
  readonly play: () => Promise<string | null>;
}

let service: CampaignService;
let whole: string;
let usualFiles = 0;
const footprints: Footprint[] = [];
beforeAll(async () => {
  service = await CampaignService.make({ SVC_NUM_PARALLEL: '4', SVC_MAX_QUEUE: '64' });
  await service.start();
  whole = (await service.stream('go on forever', 12)).text;
});
afterAll(() => service.remove());

scenario('soak', async ({ seed, random, book }) => {
  const begun = performance.now();
  const looking = { on: true };
  const least = leastMemory(looking);
  const plan = Array.from({ length: REQUESTS_A_ROUND }, () => planned(random));
  await Promise.all(Array.from({ length: CLIENTS }, () => client(plan, seed, book)));
  const minutes = (performance.now() - begun) / 60_000;
  looking.on = false;
  footprints.push({ mebibytes: await least, minutes });
  if (service.exited) return book.found(seed, 'the server ended');
  const growth = growthOf(footprints);
  if (growth !== null) {
    const { perMinute, used } = growth;
    book.tell('MiB a minute', perMinute);
    if (perMinute > MOST_MIB_A_MINUTE)
      book.found(seed, `memory grows by ${perMinute} MiB a minute: ${used.join(', ')}`);
  }
  const left = service.children();
  if (left.length > 4) book.found(seed, `${left.length} processes are left`);
  usualFiles ||= await openFiles();
  const files = await filesLeft(usualFiles + FILES_TO_SPARE);
  if (files !== null) book.found(seed, `${files} files stay open, ${usualFiles} at first`);
});

function planned(random: Random): Planned {
  const [name, play] = pick(random, KINDS);
  const chance = random.below(1_000_000);
  return { name, play: () => play(chance) };
}

/** Takes the next request until there is none. */
async function client(plan: Planned[], seed: number, book: Book): Promise<void> {
  for (let next = plan.pop(); next !== undefined; next = plan.pop()) {
    const problem = await next.play().catch((error: unknown) => String(error));
    book.count('requests');
    if (problem !== null) book.found(seed, `${next.name}: ${problem}`);
  }
}

const KINDS: readonly (readonly [string, Kind])[] = [
  ['stream', stream],
  ['stream', stream],
  ['stream that is left', leftStream],
  ['chat', () => answered('/v1/chat/completions', chat, '"finish_reason"')],
  ['messages', () => answered('/v1/messages', chat, '"end_turn"|"max_tokens"')],
  [
    'response',
    () => answered('/v1/responses', { model: 'tiny', input: 'Hi', max_output_tokens: 8 }, '"output"'),
  ],
  ['completion', () => answered('/v1/completions', { model: 'tiny', prompt: 'Hi', max_tokens: 8 }, '"text"')],
  ['embedding', () => answered('/v1/embeddings', { model: 'embed', input: TEXTS }, '"embedding"')],
  ['tokens', () => answered('/v1/tokenize', { model: 'tiny', content: 'some words' }, '"tokens"')],
  ['schema', schema],
  ['no model', () => answered('/v1/chat/completions', { ...chat, model: 'absent' }, '"error"', 404)],
  ['no JSON', () => answered('/v1/chat/completions', '{"model":', '"error"', 400)],
  ['models', () => got('/v1/models')],
  ['identity', () => got('/v1/identity')],
  ['metrics', () => got('/metrics')],
];

async function stream(): Promise<string | null> {
  const { done, text, status } = await service.stream('go on forever', 12);
  return done && text === whole ? null : `${status}, ${done ? 'other words' : 'not whole'}`;
}

async function leftStream(chance: number): Promise<string | null> {
  const controller = new AbortController();
  const asked = service.post(
    '/v1/chat/completions',
    { ...chat, max_tokens: 400, stream: true },
    {},
    controller,
  );
  await delay(chance % 20);
  controller.abort();
  await asked.then((reply) => reply.body?.cancel()).catch(() => {});
  return null;
}

/** Most likely one that nobody sent before. */
function schema(chance: number): Promise<string | null> {
  const named = { ...PERSON, title: `t${chance}` };
  const format = { type: 'json_schema', json_schema: { name: 'x', schema: named } };
  return answered('/v1/chat/completions', { ...chat, response_format: format }, '"finish_reason"');
}

async function answered(route: string, body: unknown, words: string, status = 200): Promise<string | null> {
  return judged(await service.post(route, body), words, status);
}

async function got(route: string): Promise<string | null> {
  return judged(await fetch(service.url + route), '.', 200);
}

async function judged(reply: Response, words: string, status: number): Promise<string | null> {
  const text = await reply.text();
  const isExpected = reply.status === status && new RegExp(words).test(text);
  return isExpected ? null : `${reply.status} ${text.slice(0, 200)}`;
}

/** Of the server and its workers together, in mebibytes, while it looks. */
async function leastMemory(looking: { readonly on: boolean }): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  do {
    await delay(LOOK_EVERY_MS);
    least = Math.min(least, await residentMebibytes());
  } while (looking.on);
  return least;
}

async function residentMebibytes(): Promise<number> {
  const pids = [service.pid, ...service.children()];
  const sizes = await Promise.all(pids.map((pid) => residentOf(pid)));
  return sizes.reduce((sum, size) => sum + size, 0) / 1024;
}

async function residentOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0);
}

/** Null once there are no more than `most`: connections that clients have left end within a moment. */
async function filesLeft(most: number): Promise<number | null> {
  for (let looks = 0; ; looks += 1) {
    const files = await openFiles();
    if (files <= most) return null;
    if (looks * LOOK_EVERY_MS >= FILES_CLOSE_MS) return files;
    await delay(LOOK_EVERY_MS);
  }
}

async function openFiles(): Promise<number> {
  return (await readdir(`/proc/${service.pid}/fd`)).length;
}
