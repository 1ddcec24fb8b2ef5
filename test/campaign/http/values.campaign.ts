/**
 * Constrained values: random schemas, of every kind and of numbers that JavaScript rounds. The grammar lets each valid
 * instance be written, or names what it loses; the check judges as another program does; and what the service answers to a
 * schema, when it ends by itself, is JSON that this other program finds valid.
 */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll } from 'vitest';
import { SchemaBudget } from '../../../packages/schema-grammar/src/schema/schema-budget.ts';
import { compileSchema } from '../../../packages/schema-grammar/src/schema-grammar.ts';
import { FORMAT_PATTERNS } from '../../../packages/schema-grammar/src/string-formats.ts';
import { parseSpelled } from '../../../src/lib/json/parse-spelled.ts';
import type { LeftOut } from '../../../src/server/api/intake/schema-messages.ts';
import { examine, KnownSchemas } from '../../../src/server/api/intake/schema-work.ts';
import { acceptor } from '../../../packages/schema-grammar/test/grammar-accept.ts';
import { seeded } from '../../../packages/schema-grammar/test/grammar-walk.ts';
import { exactSchema } from '../../support/random/exact-schema.ts';
import { canonical, RandomInstances } from '../../support/random/random-instance.ts';
import { randomRootSchema } from '../../../packages/schema-grammar/test/random-schema.ts';
import { pick, type Round, scenario } from '../campaign.ts';
import { CampaignService } from '../service.ts';

const SCHEMAS = 20;
const INSTANCES = 6;
/** A model without sense ends few long answers. */
const MOST_TOKENS = 300;

let service: CampaignService;
beforeAll(async () => {
  service = await CampaignService.make({ SVC_KEEP_ALIVE: '-1' });
  await service.start();
});
afterAll(() => service.remove());

scenario('values', async (round) => {
  for (let count = 0; count < SCHEMAS; count += 1) playExact(round);
  for (let count = 0; count < SCHEMAS; count += 1) playAny(round);
  await playAnswer(round);
});

function examined(text: string) {
  const known = new KnownSchemas();
  const leftOut: readonly LeftOut[] = examine(
    { digest: 'd', text, path: 'schema', relax: true },
    new SchemaBudget(),
    known,
  );
  return {
    isNarrowed: leftOut.some(({ narrowed }) => narrowed === true),
    accepts: acceptor(compileSchema(parseSpelled(text), 'schema', { relax: true })),
    problemOf: (value: string) => known.check('d', null, value)?.problem ?? null,
  };
}

function playExact({ seed, random, book }: Round): void {
  const { text, allows, near } = exactSchema(seeded(random.next()));
  const { isNarrowed, accepts, problemOf } = examined(text);
  for (const spelling of near) {
    book.count('numbers');
    const isValid = allows(spelling);
    if (isValid !== (problemOf(spelling) === null))
      book.found(seed, `the check takes ${spelling} for ${isValid ? 'invalid' : 'valid'}: ${text}`);
    if (isValid && !isNarrowed && !accepts(spelling))
      book.found(seed, `${spelling} is valid and cannot be written: ${text}`);
  }
}

function playAny({ seed, random, book }: Round): void {
  const schema = randomRootSchema(seeded(random.next()));
  const { isNarrowed, accepts, problemOf } = examined(JSON.stringify(schema));
  const isValid = judge(schema);
  const instances = new RandomInstances(schema, seeded(random.next()));
  for (let count = 0; count < INSTANCES; count += 1) {
    const value = instances.next();
    if (!isValid(value)) continue;
    book.count('instances');
    const text = canonical(value);
    const label = `${JSON.stringify(schema).slice(0, 400)} and ${text.slice(0, 200)}`;
    const problem = problemOf(text);
    if (problem !== null) book.found(seed, `the check refuses a valid value, ${problem}: ${label}`);
    if (!isNarrowed && !accepts(text)) book.found(seed, `a valid value cannot be written: ${label}`);
  }
}

async function playAnswer({ seed, random, book }: Round): Promise<void> {
  const schema = randomRootSchema(seeded(random.next()), { unbounded: false });
  const stream = pick(random, [true, false]);
  const reply = await service.post('/v1/chat/completions', {
    model: 'tiny',
    stream,
    seed: random.below(1_000_000),
    max_tokens: MOST_TOKENS,
    messages: [{ role: 'user', content: 'Answer.' }],
    response_format: { type: 'json_schema', json_schema: { name: 'answer', schema } },
  });
  const text = await reply.text();
  const label = JSON.stringify(schema).slice(0, 400);
  if (reply.status !== 200) return book.found(seed, `${reply.status} ${text.slice(0, 200)}: ${label}`);
  const { content, end } = stream ? joined(text) : whole(text);
  book.count(`answers, ${end}`);
  if (!content.isWellFormed() || content.includes('\ufffd'))
    book.found(seed, `half a character: ${content.slice(0, 200)}`);
  if (end !== 'stop') return;
  const value = parsed(content);
  if (value === undefined || !judge(schema)(value))
    book.found(seed, `not valid, ${content.slice(0, 200)}: ${label}`);
}

interface Answered {
  readonly content: string;
  readonly end: string;
}

function whole(text: string): Answered {
  const [choice] = (
    JSON.parse(text) as { choices: [{ message: { content: string }; finish_reason: string }] }
  ).choices;
  return { content: choice.message.content, end: choice.finish_reason };
}

function joined(text: string): Answered {
  const choices = text
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .flatMap(
      (line) =>
        (
          JSON.parse(line.slice(6)) as {
            choices?: { delta: { content?: string }; svc_finish_reason?: string }[];
          }
        ).choices ?? [],
    );
  return {
    content: choices.map(({ delta }) => delta.content ?? '').join(''),
    end: choices.findLast((choice) => choice.svc_finish_reason)?.svc_finish_reason ?? 'none',
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Another program than the check: plain ajv, with JavaScript's own regular expressions. */
function judge(schema: object): (value: unknown) => boolean {
  const formats = Object.fromEntries(
    Object.entries(FORMAT_PATTERNS).map(([name, source]) => [name, new RegExp(source)]),
  );
  return new Ajv2020({ strict: false, formats, meta: false, validateSchema: false }).compile(schema);
}
