/**
 * Two keys, and requests from before there was any, in every form of headers that lets a key in: nothing that is kept of one
 * is seen by another, neither responses, reports, text nor cached prompts, also after a restart.
 */
import { afterAll, beforeAll } from 'vitest';
import { addKey } from '../../../src/store/keys/key-file.ts';
import { askRaw, type Header } from '../../support/http/raw-request.ts';
import type { Random } from '../../../tools/gguf/random.ts';
import { pick, type Round, scenario } from '../campaign.ts';
import { CampaignService } from '../service.ts';

const ACTIONS = 12;
/** Of what one owner has, at most so many are asked for in later rounds. */
const REMEMBERED = 20;
/** The template's own first words are shared by all prompts of one owner. */
const MOST_SHARED = 0.5;
const PREFIX_WORDS = 60;

interface Owner {
  readonly name: string;
  readonly key: string | null;
  readonly secret: string;
  readonly responses: string[];
  readonly requests: string[];
}

let service: CampaignService;
const owners: Owner[] = [];

beforeAll(async () => {
  service = await CampaignService.make({ SVC_CACHE_DISK: '256M', SVC_KEEP_ALIVE: '-1' });
  await service.start();
  const nobody = newOwner('nobody', null);
  owners.push(nobody);
  await store(nobody, [], 'from before');
  for (const name of ['alice', 'mallory']) {
    const { key } = await addKey(service.home, { name, admin: false, localOnly: false }, Date.now());
    owners.push(newOwner(name, key));
  }
});
afterAll(() => service.remove());

const newOwner = (name: string, key: string | null): Owner => ({
  name,
  key,
  secret: `the secret of ${name} is ${name}-4711`,
  responses: [],
  requests: [],
});

/** A form in which the key is let in, whatever stands beside it. */
function headersOf(random: Random, owner: Owner): Header[] {
  const key = owner.key ?? '';
  const other =
    pick(
      random,
      owners.filter((each) => each !== owner && each.key !== null),
    ).key ?? '';
  const beside = pick(random, [
    '',
    'Bearer',
    'Bearer ',
    'Basic cHJveHk6c2hhcmVk',
    `Basic ${other}`,
    other,
    'Digest x',
  ]);
  return pick<Header[]>(random, [
    [['Authorization', `Bearer ${key}`]],
    [['authorization', `bearer  ${key}`]],
    [['X-Api-Key', key]],
    [
      ['Authorization', beside],
      ['x-api-key', key],
    ],
    [
      ['X-API-KEY', other],
      ['AUTHORIZATION', `Bearer ${key}`],
    ],
    [
      ['Authorization', `Bearer ${key}`],
      ['Authorization', `Bearer ${other}`],
    ],
  ]);
}

async function store(owner: Owner, headers: readonly Header[], words: string): Promise<string | null> {
  const id = `${owner.name}-${owner.requests.length}`;
  const { status, body } = await askRaw(service.url, '/v1/responses', [...headers, ['X-Request-Id', id]], {
    model: 'tiny',
    input: `${words} ${owner.secret}`,
    max_output_tokens: 4,
  });
  if (status !== 200) return `a request of ${owner.name} was answered ${status}`;
  owner.responses.push(body.id);
  owner.requests.push(id);
  if (owner.responses.length > REMEMBERED) owner.responses.shift();
  return null;
}

scenario('identities', async (round) => {
  const { seed, random, book } = round;
  // All say the same first, so that state of another would be of use.
  const prefix = Array.from({ length: PREFIX_WORDS }, () => `word${random.below(1_000_000)}`).join(' ');
  const begun = new Set<Owner>();
  for (let action = 0; action < ACTIONS; action += 1) {
    const owner = pick(
      random,
      owners.filter(({ key }) => key !== null),
    );
    const headers = headersOf(random, owner);
    const told = (what: string): void =>
      book.found(seed, `${what}; as ${owner.name}, with ${JSON.stringify(headers.map(([name]) => name))}`);
    switch (random.below(4)) {
      case 0: {
        const failed = await store(owner, headers, prefix);
        if (failed !== null) told(failed);
        begun.add(owner);
        break;
      }
      case 1:
        await chat({ owner, headers, prefix, isFirst: !begun.has(owner), told, book });
        begun.add(owner);
        break;
      default:
        await read({ owner, headers, told, random });
    }
    book.count('actions');
  }
  if (random.below(6) === 0) {
    await service.stop();
    await service.start();
    book.count('restarts');
  }
});

interface Action {
  readonly owner: Owner;
  readonly headers: readonly Header[];
  readonly told: (what: string) => void;
}

async function chat({
  owner,
  headers,
  prefix,
  isFirst,
  told,
  book,
}: Action & {
  readonly prefix: string;
  readonly isFirst: boolean;
  readonly book: Round['book'];
}): Promise<void> {
  const { status, body } = await askRaw(service.url, '/v1/chat/completions', headers, {
    model: 'tiny',
    messages: [{ role: 'user', content: `${prefix} ${owner.secret}` }],
    max_tokens: 4,
  });
  if (status !== 200) return told(`a chat was answered ${status}`);
  const { prompt_tokens: prompt, prompt_tokens_details: details } = body.usage;
  const cached = details?.cached_tokens ?? 0;
  if (isFirst && cached > MOST_SHARED * prompt) told(`${cached} of ${prompt} tokens come from another key`);
  book.count(isFirst ? 'first chats' : 'later chats');
  if (!isFirst && cached > 0) book.count('later chats from the cache');
}

/** What one owner has is asked for by another, or by itself. */
async function read({ owner, headers, told, random }: Action & { readonly random: Random }): Promise<void> {
  const whose = pick(random, owners);
  if (whose.responses.length === 0) return;
  const response = pick(random, whose.responses);
  const [path, body] = pick<readonly [string, object?]>(random, [
    [`/v1/responses/${response}`],
    [`/v1/responses/${response}/input_items`],
    [`/svc/cache/why/${whose.requests.at(-1)}`],
    [
      '/v1/responses',
      { model: 'tiny', input: 'go on', max_output_tokens: 2, previous_response_id: response },
    ],
    ['/svc/engine'],
  ]);
  const { status, text } = await askRaw(service.url, path, headers, body);
  const isOpen = path === '/svc/engine';
  const isReport = path.startsWith('/svc/cache/');
  if (!isOpen && whose !== owner && status !== 404) told(`${path} of ${whose.name} was answered ${status}`);
  // Reports end with the process.
  if (!isOpen && !isReport && whose === owner && status !== 200)
    told(`its own ${path} was answered ${status}`);
  const heard = owners.filter((other) => other !== owner && text.includes(other.secret.slice(-8)));
  for (const { name } of heard) told(`${path} tells what ${name} said`);
}
