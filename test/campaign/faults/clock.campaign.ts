/**
 * The clock of the machine jumps while streams run: they end whole, the service answers after it, records that it signs
 * are told from records that it did not, and a model that is in use is not unloaded.
 */
import { rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll } from 'vitest';
import { hearth } from '../../support/process/hearth.ts';
import { pick, scenario } from '../campaign.ts';
import { CampaignService } from '../service.ts';

const TOKENS = 120;
const HOUR_MS = 3_600_000;
const YEAR_MS = 365 * 24 * HOUR_MS;
const JUMPS = [
  HOUR_MS,
  -HOUR_MS,
  24 * HOUR_MS,
  -24 * HOUR_MS,
  YEAR_MS,
  -YEAR_MS,
  75 * YEAR_MS,
  -50 * YEAR_MS,
  999,
];
const chat = { model: 'tiny', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 8 };

let service: CampaignService;
let whole: string;
beforeAll(async () => {
  const preload = new URL('./jumping-clock.mjs', import.meta.url).href;
  service = await CampaignService.make((home) => ({
    SVC_NUM_PARALLEL: '4',
    NODE_OPTIONS: `--import=${preload}`,
    JUMPING_CLOCK: path.join(path.dirname(home), 'clock'),
  }));
  await setClock(0);
  await service.start();
  whole = (await service.stream('go on forever', TOKENS)).text;
  await setClock(YEAR_MS);
  const { created } = (await (await service.post('/v1/chat/completions', chat)).json()) as {
    created: number;
  };
  if (created * 1_000 < Date.now() + YEAR_MS - HOUR_MS) throw new Error('the clock does not jump');
});
afterAll(() => service.remove());

scenario('clock', async ({ seed, random, book }) => {
  const streams = [1, 2].map(() => service.stream('go on forever', TOKENS));
  await delay(random.below(80));
  const jumpMs = pick(random, JUMPS);
  await setClock(jumpMs);
  book.count('jumps');
  for (const { done, text } of await Promise.all(streams))
    if (!done || text !== whole) book.found(seed, `a jump by ${jumpMs} ms cut a stream`);
  const request = JSON.stringify(chat);
  const reply = await service.post('/v1/chat/completions', request, { 'X-Svc-Evidence-Mode': 'frozen-v1' });
  const answer = await reply.text();
  if (reply.status !== 200)
    return book.found(seed, `after a jump by ${jumpMs} ms: ${reply.status} ${answer}`);
  book.measure('health ms', await service.healthMs());
  if (random.below(4) === 0) {
    const problem = await verify(request, answer);
    book.count('records verified');
    if (problem !== null) book.found(seed, `a record signed after a jump by ${jumpMs} ms: ${problem}`);
  }
  if (service.exited) book.found(seed, 'the server ended');
});

async function verify(request: string, answer: string): Promise<string | null> {
  const folder = path.dirname(service.home);
  const file = (name: string): string => path.join(folder, name);
  const env = { SVC_HOME: service.home };
  await writeFile(file('answer.json'), answer);
  await writeFile(file('request.json'), request);
  await writeFile(file('key.pem'), (await hearth(['evidence', 'pubkey'], env)).stdout);
  const args = ['evidence', 'verify', file('answer.json'), '--request', file('request.json')];
  const { code, stdout, stderr } = await hearth([...args, '--pubkey', file('key.pem')], env);
  return code === 0 ? null : `${stdout}${stderr}`.slice(0, 300);
}

/** The file is never half-written. */
async function setClock(offsetMs: number): Promise<void> {
  const file = path.join(path.dirname(service.home), 'clock');
  await writeFile(`${file}.next`, String(offsetMs));
  await rename(`${file}.next`, file);
}
