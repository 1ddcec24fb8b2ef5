/**
 * Signals to workers at random moments, with streams running. Each stream ends in one honest way: whole, with the very
 * text that a quiet service gives, and [DONE]; or an error and no [DONE]. The next request is answered, or refused because
 * of the crashes, and nobody is left.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll } from 'vitest';
import { pick, scenario } from '../campaign.ts';
import { CampaignService } from '../service.ts';

const SIGNALS: readonly NodeJS.Signals[] = ['SIGKILL', 'SIGSEGV', 'SIGABRT', 'SIGBUS', 'SIGTERM', 'SIGSTOP'];
const PROMPTS = ['go on forever', 'forever and a day', 'count forever', 'tell a story'];
const TOKENS = 80;

let service: CampaignService;
const expected = new Map<string, string>();
beforeAll(async () => {
  service = await CampaignService.make({ SVC_NUM_PARALLEL: '4' });
  await service.start();
  for (const prompt of PROMPTS) {
    const { text, done } = await service.stream(prompt, TOKENS);
    if (!done) throw new Error(`a quiet service does not answer ${prompt}`);
    expected.set(prompt, text);
  }
});
afterAll(() => service.remove());

scenario('workers', async ({ seed, random, book }) => {
  const prompts = PROMPTS.filter(() => random.below(3) > 0).concat(pick(random, PROMPTS));
  const streams = prompts.map((prompt) => service.stream(prompt, TOKENS));
  await delay(random.below(120));
  const signal = pick(random, SIGNALS);
  for (const pid of await service.children())
    if (random.below(2) === 0 && hit(pid, signal)) book.count(`workers hit by ${signal}`);
  // A stopped worker is found out after half a minute; that is the watchdog's test, so it is let go on here.
  if (signal === 'SIGSTOP') {
    await delay(random.below(400));
    for (const pid of await service.children()) hit(pid, 'SIGCONT');
  } else {
    book.count('rounds of deadly signals');
  }
  for (const [index, outcome] of (await Promise.all(streams)).entries()) {
    const { status, text, done, finished } = outcome;
    const whole = expected.get(prompts[index] ?? '') ?? '';
    if (done && (!finished || text !== whole))
      book.found(seed, `a false [DONE] after ${text.length} characters`);
    if (!done && status === 200 && !whole.startsWith(text))
      book.found(seed, 'text that a quiet service does not say');
    book.count(done ? 'whole' : 'ended by an error');
  }
  if (service.exited) return book.found(seed, 'the server ended');
  const after = await service.stream('tell a story', 8);
  if (after.status === 503) {
    // What crashes this often is refused for minutes. A new start forgets that, and the next rounds find workers to hit.
    book.count('refused after crashes');
    await service.stop();
    await service.start();
    const anew = await service.stream('tell a story', 8);
    if (!anew.done) book.found(seed, `a service started anew answers ${anew.status}`);
  } else if (!after.done) {
    book.found(seed, `the next request is answered ${after.status}`);
  }
  const left = await service.children();
  if (left.length > 4) book.found(seed, `${left.length} processes are left`);
});

/** False: it had gone already. */
function hit(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}
