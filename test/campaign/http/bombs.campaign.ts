/**
 * Ambiguous grammars and schemas beside a stream of somebody else: what they cost that stream is the difference between its
 * longest wait and that of the same stream beside a harmless request, as quietly measured a moment before.
 */
import { afterAll, beforeAll } from 'vitest';
import type { Random } from '../../../tools/gguf/random.ts';
import { namesItself, properties, ways } from '../../support/schema-bombs.ts';
import { type Book, pick, scenario } from '../campaign.ts';
import { CampaignService } from '../service.ts';

/** What one request may cost another stream, milliseconds, beyond what a harmless one does. */
const MOST_COST_MS = 250;
/** /health beside a bomb. */
const MOST_HEALTH_MS = 250;
/** /health beside a hundred of them. */
const MOST_CROWD_HEALTH_MS = 1_000;
const CROWD = 100;
const TOKENS = 150;
const TRIES = 3;
const KNOWN = [
  'root ::= "a" root "b" | "a" root "c" | "a"',
  'root ::= a a a a\na ::= b b b b\nb ::= c c c c\nc ::= d d d d\nd ::= e e e e\ne ::= "" | "x"',
  'root ::= x{200}\nx ::= "a"{0,60}',
  'root ::= s\ns ::= "a" s s | "a" s | "a"',
];

let service: CampaignService;
beforeAll(async () => {
  service = await CampaignService.make({ SVC_NUM_PARALLEL: '4' });
  await service.start();
  await service.stream('forever', 4);
});
afterAll(() => service.remove());

scenario('bombs', async ({ seed, random, book }) => {
  if (random.below(8) === 0) return crowd(seed, random, book);
  const bomb = anyBomb(random);
  await service.loopLagMs();
  const usual = await victim({ grammar: 'root ::= [a-z ]+' });
  const beside = await victim(bomb);
  if (service.exited) return book.found(seed, 'the server ended');
  const cost = beside.gapMs - usual.gapMs;
  book.count('bombs');
  book.count(`bomb answered ${beside.bombStatus}`);
  book.measure('cost ms', Math.max(0, cost));
  book.measure('health ms', beside.healthMs);
  book.measure('loop late ms', await service.loopLagMs());
  const text = JSON.stringify(bomb).slice(0, 500);
  if (!beside.done) book.found(seed, `the stream beside it failed: ${text}`);
  if (beside.bombStatus >= 500) book.found(seed, `${beside.bombStatus} for ${text}`);
  if (cost > MOST_COST_MS && (await isAgain(bomb, ({ gapMs }) => gapMs - usual.gapMs > MOST_COST_MS)))
    book.found(seed, `${Math.round(cost)} ms to another stream: ${text}`);
  if (beside.healthMs > MOST_HEALTH_MS && (await isAgain(bomb, ({ healthMs }) => healthMs > MOST_HEALTH_MS)))
    book.found(seed, `/health took ${Math.round(beside.healthMs)} ms beside ${text}`);
});

/** A hundred at once: refused for the most part, and whoever asks how the service is gets an answer. */
async function crowd(seed: number, random: Random, book: Book): Promise<void> {
  let healthMs = Number.POSITIVE_INFINITY;
  // What is late each time is late because of them.
  for (let tries = 0; tries < TRIES && healthMs > MOST_CROWD_HEALTH_MS; tries += 1)
    healthMs = Math.min(healthMs, await healthBeside(seed, random, book));
  if (healthMs > MOST_CROWD_HEALTH_MS) book.found(seed, `/health took ${Math.round(healthMs)} ms`);
}

/** The longest that /health took beside them, milliseconds. */
async function healthBeside(seed: number, random: Random, book: Book): Promise<number> {
  let worstMs = 0;
  const bombs = Array.from({ length: CROWD }, () => explode(anyBomb(random)));
  const probing = { on: true };
  const probes = (async () => {
    while (probing.on) {
      const healthMs = await service.healthMs();
      book.measure('health beside a crowd ms', healthMs);
      worstMs = Math.max(worstMs, healthMs);
    }
  })();
  for (const status of await Promise.all(bombs)) {
    book.count(`bomb of a crowd answered ${status}`);
    if (status >= 500 && status !== 503) book.found(seed, `${status} for a bomb of a crowd`);
  }
  probing.on = false;
  await probes;
  return worstMs;
}

/** The status of the answer; 0 if there was none. */
async function explode(bomb: object): Promise<number> {
  const reply = await service
    .post('/v1/chat/completions', {
      model: 'tiny',
      messages: [{ role: 'user', content: 'aaaa' }],
      max_tokens: 100,
      temperature: 0,
      ...bomb,
    })
    .catch(() => null);
  await reply?.arrayBuffer().catch(() => {});
  return reply?.status ?? 0;
}

const anyBomb = (random: Random): object =>
  random.below(2) === 0 ? { grammar: grammarBomb(random) } : { response_format: schemaBomb(random) };

type Seen = Awaited<ReturnType<typeof victim>>;

/** A machine that is busy with other programs is late as well; what shows each time is the bomb's. */
async function isAgain(bomb: object, isLate: (seen: Seen) => boolean): Promise<boolean> {
  for (let tries = 0; tries < TRIES; tries += 1) if (!isLate(await victim(bomb))) return false;
  return true;
}

async function victim(bomb: object) {
  let exploding: Promise<number> | undefined;
  let healthMs = 0;
  const probes: Promise<void>[] = [];
  const stream = await service.stream('go on forever', TOKENS, {}, () => {
    exploding ??= explode(bomb);
    if (probes.length < 10) {
      probes.push(
        service.healthMs().then(
          (ms) => void (healthMs = Math.max(healthMs, ms)),
          () => {},
        ),
      );
    }
  });
  const bombStatus = (await exploding) ?? 0;
  await Promise.all(probes);
  return { gapMs: stream.longestGapMs, done: stream.done, bombStatus, healthMs };
}

function grammarBomb(random: Random): string {
  if (random.below(4) === 0) return pick(random, KNOWN);
  const rules = ['r0', 'r1', 'r2', 'r3'];
  const symbol = (): string =>
    pick(random, ['"a"', '"b"', 'r1', 'r2', 'r3', '"a"?', '"a"{0,20}', '[a-c]*', '("a" | "" | "b")', 'r0']);
  const body = (rule: number): string =>
    Array.from({ length: 1 + random.below(4) }, () => {
      const first = rule < 3 && random.below(3) === 0 ? `${rules[rule + 1]} ` : '';
      return `"a" ${first}${Array.from({ length: random.below(4) }, symbol).join(' ')}`;
    })
      .concat('"a"')
      .join(' | ');
  return ['root ::= r0', ...rules.map((name, rule) => `${name} ::= ${body(rule)}`)].join('\n');
}

function schemaBomb(random: Random): object {
  const size = pick(random, [3, 30, 200, 600, 1_900]);
  const kinds: readonly (() => object)[] = [
    () => properties(size),
    () => ways(Math.min(size, 600)),
    () => namesItself,
    () => ({
      type: 'array',
      items: { type: 'array', items: { type: 'string', pattern: '^(a|b|ab)*(c|d)*$' } },
      minItems: Math.min(size, 100),
    }),
    () => ({
      type: 'string',
      pattern: `^(${Array.from({ length: Math.min(size, 200) }, (_, at) => `a{0,${at}}b?`).join('|')})$`,
    }),
  ];
  return { type: 'json_schema', json_schema: { name: 'bomb', schema: pick(random, kinds)() } };
}
