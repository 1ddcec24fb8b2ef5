/**
 * Signals to workers at random moments, with streams running. Each stream ends in one honest way: whole, with the very
 * text that a quiet service gives, and [DONE]; or an error and no [DONE]. The next request is answered, or refused because
 * of the crashes, and nobody is left.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll } from 'vitest';
import { inLanes, pick, type Round, scenario } from '../campaign.ts';
import { CampaignService } from '../service.ts';

const SIGNALS: readonly NodeJS.Signals[] = ['SIGKILL', 'SIGSEGV', 'SIGABRT', 'SIGBUS', 'SIGTERM', 'SIGSTOP'];
const PROMPTS = ['go on forever', 'forever and a day', 'count forever', 'tell a story'];
const TOKENS = 80;

/** Most of a round is the start of the next worker, so several services are hit at once. */
const SERVICES = 6;

let services: readonly CampaignService[];
const expected = new Map<string, string>();
beforeAll(async () => {
  services = await Promise.all(
    Array.from({ length: SERVICES }, () => CampaignService.make({ SVC_NUM_PARALLEL: '4' })),
  );
  await Promise.all(services.map((service) => service.start()));
  for (const prompt of PROMPTS) {
    const outcomes = await Promise.all(services.map((service) => service.stream(prompt, TOKENS)));
    const texts = new Set(outcomes.map(({ done, text }) => (done ? text : null)));
    const [text] = texts;
    if (texts.size !== 1 || typeof text !== 'string')
      throw new Error(`quiet services do not agree about ${prompt}`);
    expected.set(prompt, text);
  }
});
afterAll(() => Promise.all(services.map((service) => service.remove())));

scenario('workers', (round) => inLanes(round, services, hitWorkers));

async function hitWorkers(service: CampaignService, round: Round): Promise<void> {
  const { seed, random, book } = round;
  const prompts = PROMPTS.filter(() => random.below(3) > 0).concat(pick(random, PROMPTS));
  // No two requests are the same, or the second that meets a crash would be refused as its cause.
  const first = random.below(2 ** 31);
  let begin = (): void => {};
  const begun = new Promise<void>((resolve) => (begin = resolve));
  const streams = prompts.map((prompt, index) =>
    service.stream(prompt, TOKENS, { seed: first + index }, begin),
  );
  const waitsForText = random.below(4) > 0;
  const waitMs = random.below(waitsForText ? 40 : 400);
  const signal = pick(random, SIGNALS);
  const pauseMs = random.below(400);
  if (waitsForText) await Promise.race([begun, Promise.all(streams)]);
  await delay(waitMs);
  for (const pid of service.children())
    if (random.below(6) > 0 && hit(pid, signal)) book.count(`workers hit by ${signal}`);
  // A stopped worker is found out after half a minute; that is the watchdog's test, so it is let go on here.
  if (signal === 'SIGSTOP') {
    await delay(pauseMs);
    for (const pid of service.children()) hit(pid, 'SIGCONT');
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
  await serveAgain(service, round);
  const left = service.children();
  if (left.length > 4) book.found(seed, `${left.length} processes are left`);
}

async function serveAgain(service: CampaignService, { seed, book }: Round): Promise<void> {
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
}

/** False: it had gone already. */
function hit(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}
