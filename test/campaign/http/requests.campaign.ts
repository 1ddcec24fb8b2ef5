/** Random bytes and random JSON at every route: an honest answer or a closed socket, never a 500, and the service lives. */
import net from 'node:net';
import { afterAll, beforeAll } from 'vitest';
import { REQUEST_HEADERS } from '../../../src/wire/headers.ts';
import { type Route, routes } from '../../../src/wire/routes.ts';
import type { Random } from '../../../tools/gguf/random.ts';
import { type Book, type Finding, pick, scenario } from '../campaign.ts';
import { bodyOf, changed, smallest } from '../random-body.ts';
import { GOOD } from './good-bodies.ts';
import { isHonest, isHonestStatus } from './honest.ts';
import { CampaignService } from '../service.ts';

const A_ROUND = 1_024;
/** The next begins when one of them is answered: some take half a second of waiting, most a few milliseconds of work. */
const AT_ONCE = 128;
const MODELS = ['tiny', 'tiny', 'tiny', 'embed', 'default', 'absent'];
/** They would take away what the others ask; names of no model, then. */
const CHANGES_MODELS = /^\/svc\/models/;
/** All but the one that ends the service. */
const ROUTES: readonly Route[] = Object.values<Route>(routes).filter(({ path }) => path !== routes.quit.path);
const BODIED = ROUTES.filter(({ body }) => body !== undefined);
const FRAGMENTS = [
  'GET / HTTP/1.1\r\n',
  'POST /v1/chat/completions HTTP/1.1\r\n',
  'GET /health HTTP/1.0\r\n',
  'PRI * HTTP/2.0\r\n',
  'Host: 127.0.0.1\r\n',
  'Host: evil\r\n',
  'Host : 127.0.0.1\r\n',
  'Content-Length: 5\r\n',
  'Content-Length: -1\r\n',
  'Content-Length: 5, 5\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Transfer-Encoding: gzip, chunked\r\n',
  'Content-Type: application/json\r\n',
  'Expect: 100-continue\r\n',
  'Upgrade: websocket\r\nConnection: Upgrade\r\n',
  '\r\n',
  '5\r\nhello\r\n',
  '0\r\n\r\n',
  '{"model":',
  '\u0000\u0001',
  `X: ${'y'.repeat(20_000)}\r\n`,
  '\n\n',
  'FFFFFFFFFFFFFFFFF\r\n',
];

type Problem = Pick<Finding, 'what' | 'keep'>;
type Play = () => Promise<Problem | null>;

interface Answer {
  readonly status: number;
  readonly answer: string;
}

/** Statuses after which the client is to go on: with its body, or elsewhere, as from / and /ui to the page. */
const GOES_ON = ['100', '302', '308'];

let service: CampaignService;
/** What the page of the service sends: without it, nothing that changes models is looked at. */
let page: Record<string, string>;
beforeAll(async () => {
  // The hub is a port on which nobody listens.
  service = await CampaignService.make({ HF_ENDPOINT: 'http://127.0.0.1:9', SVC_MAX_QUEUE: '1024' });
  await service.start();
  const origin = { Origin: service.url };
  const { token } = (await (await service.post('/svc/page-token', '{}', origin)).json()) as { token: string };
  page = { ...origin, [REQUEST_HEADERS.pageToken]: token };
});
afterAll(() => service.remove());

scenario('requests', async (round) => {
  const { random, book, seed } = round;
  const plays = Array.from({ length: A_ROUND }, () =>
    random.below(4) === 0 ? framing(random, book) : json(random, book),
  );
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let play = plays.pop(); play !== undefined; play = plays.pop()) {
        const problem = await play();
        if (problem !== null) book.found(seed, problem.what, problem.keep);
      }
    }),
  );
  if (service.exited) return book.found(seed, 'the server ended');
  book.measure('health ms', await service.healthMs());
});

/** Draws everything first: what is asked must not depend on when. */
function json(random: Random, book: Book): Play {
  const { path, body: first } = random.below(2) === 0 ? ofSchema(random) : ofSample(random);
  let body = first;
  for (let left = random.below(4); left > 0; left -= 1) body = changed(body, random);
  const cut = random.below(30) === 0 ? 1 + random.below(5) : 0;
  const text = JSON.stringify(body);
  return async () => {
    const { status, answer } = await ask(path, text.slice(0, text.length - cut));
    book.count('JSON requests');
    book.count(`status ${status}`);
    return isHonest(status, answer) ? null : badAnswer(path, body, { status, answer }, book);
  };
}

async function badAnswer(
  path: string,
  body: unknown,
  { status, answer }: Answer,
  book: Book,
): Promise<Problem | null> {
  const isBad = async (less: unknown): Promise<boolean> => {
    const again = await ask(path, JSON.stringify(less));
    return !isHonest(again.status, again.answer);
  };
  const isAgain = await isBad(body);
  if (status === 0 && !isAgain) {
    // A connection that stood idle, or said nothing for too long: on a busy machine that happens to any request.
    book.count('connections cut, and answered at the second try');
    return null;
  }
  const least = isAgain ? await smallest(body, isBad) : body;
  const what = `${status} for POST ${path} ${JSON.stringify(least).slice(0, 600)}: ${answer.slice(0, 200)}`;
  return { what, keep: { file: 'requests', case: { path, body: least } } };
}

interface Start {
  readonly path: string;
  readonly body: unknown;
}

function ofSchema(random: Random): Start {
  const { path, body } = pick(random, BODIED);
  return { path, body: bodyOf(body, random, CHANGES_MODELS.test(path) ? ['absent'] : MODELS) };
}

function ofSample(random: Random): Start {
  const path = pick(random, Object.keys(GOOD));
  return { path, body: pick(random, GOOD[path] ?? [{}]) };
}

async function ask(path: string, text: string): Promise<Answer> {
  try {
    const reply = await service.post(path, text, path.startsWith('/svc/') ? page : {});
    return { status: reply.status, answer: await textOf(reply) };
  } catch (error) {
    return { status: 0, answer: String((error as Error).cause ?? error) };
  }
}

/** A stream that fails after it began ends with an error and a connection that is cut; cut without an error, it is thrown. */
async function textOf(reply: Response): Promise<string> {
  let text = '';
  const decoder = new TextDecoder();
  try {
    for await (const part of reply.body ?? []) text += decoder.decode(part as Uint8Array, { stream: true });
  } catch (error) {
    if (!/^(event: error|data: \{.*"error":)/m.test(text)) throw error;
  }
  return text;
}

function framing(random: Random, book: Book): Play {
  const route = pick(random, ROUTES);
  const start = random.below(2) === 0 ? `${route.method} ${route.path} HTTP/1.1\r\nHost: 127.0.0.1\r\n` : '';
  const parts = Array.from({ length: 1 + random.below(6) }, () => pick(random, FRAGMENTS));
  const bytes = Buffer.from(start + parts.join(''), 'latin1');
  for (let left = random.below(3); left > 0; left -= 1) bytes[random.below(bytes.length)] = random.below(256);
  return async () => {
    const said = await raw(bytes);
    book.count('raw requests');
    const status = /^HTTP\/1\.1 (\d{3})/.exec(said)?.[1];
    return status === undefined || isHonestStatus(Number(status)) || GOES_ON.includes(status)
      ? null
      : { what: `${said.slice(0, 200)} for ${JSON.stringify(bytes.toString('latin1').slice(0, 400))}` };
  };
}

/** What comes back until the other side closes, or this one has waited long enough and goes. */
function raw(bytes: Buffer): Promise<string> {
  return new Promise((resolve) => {
    const { port } = new URL(service.url);
    const socket = net.connect(Number(port), '127.0.0.1');
    let said = '';
    const end = (): void => {
      socket.destroy();
      resolve(said);
    };
    socket.on('data', (part) => (said += part.toString('latin1')));
    socket.once('error', end).once('close', end);
    socket.end(bytes);
    setTimeout(end, 500).unref();
  });
}
