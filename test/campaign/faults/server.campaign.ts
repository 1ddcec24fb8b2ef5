/** The server itself is ended, told to drain, or stopped for a while, with streams running: nothing is lost or left over. */
import { setTimeout as delay } from 'node:timers/promises';
import { pick, scenario } from '../campaign.ts';
import { fourSlots, PROMPT } from '../four-slots.ts';

const TOKENS = 120;
const PATIENCE_MS = 5_000;

const campaign = fourSlots(TOKENS);

scenario('server', async ({ seed, random, book }) => {
  const { service, whole } = campaign;
  const streams = Array.from({ length: 1 + random.below(3) }, () => service.stream(PROMPT, TOKENS));
  await delay(random.below(150));
  const workers = service.children();
  const how = pick(random, ['kill', 'drain', 'stop and go on'] as const);
  book.count(how);
  if (how === 'stop and go on') {
    service.signal('SIGSTOP');
    await delay(random.below(1_500));
    service.signal('SIGCONT');
  }
  const code =
    how === 'kill' ? await service.stop('SIGKILL') : how === 'drain' ? await service.stop('SIGTERM') : 0;
  for (const { done, finished, text, status } of await Promise.all(streams)) {
    if (done && (!finished || text !== whole)) book.found(seed, 'a false [DONE]');
    if (how !== 'kill' && status === 200 && !done) book.found(seed, `${how} cut a stream that had begun`);
    book.count(done ? 'whole' : 'not whole');
  }
  if (how === 'drain' && code !== 0) book.found(seed, `SIGTERM ended the server with ${code}`);
  if (how === 'stop and go on') return;
  const left = await stillThere(workers);
  if (left.length > 0) book.found(seed, `workers ${left.join(', ')} outlive the server`);
  await service.start();
  if (!(await service.stream(PROMPT, 4)).done) book.found(seed, 'the next start does not serve');
});

/** Those that have not gone after a while; a process that waits to be collected has. */
async function stillThere(pids: readonly number[]): Promise<number[]> {
  const end = performance.now() + PATIENCE_MS;
  for (;;) {
    const left = pids.filter((pid) => isAlive(pid));
    if (left.length === 0 || performance.now() > end) return left;
    await delay(20);
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
