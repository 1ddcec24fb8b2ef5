/**
 * Pulls from a hub that resets, lies, stalls and breaks off, by a process that is killed at a random moment. Whatever
 * happened, every model that is listed has its bytes, and a pull from a hub that behaves succeeds after it.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll } from 'vitest';
import { openRegistry } from '../../../src/store/registry/registry.ts';
import type { Random } from '../../../tools/gguf/random.ts';
import { PULLED_ID, runCommand, type StoreWorld } from '../../fault/store/drivers/store-commands.ts';
import { type FakeHub, startFakeHub } from '../../support/hub/fake-hub.ts';
import { bundleScript } from '../../support/process/bundle.ts';
import { chatBytes } from '../../support/temp-home.ts';
import { pick, scenario } from '../campaign.ts';
import { whyBroken } from './store-state.ts';

const bytes = chatBytes(3);
let script: Awaited<ReturnType<typeof bundleScript>>;
let folder: string;
beforeAll(async () => {
  script = await bundleScript(new URL('../../fault/store/drivers/store-victim.ts', import.meta.url));
  folder = await mkdtemp(path.join(tmpdir(), 'hearth-campaign-'));
});
afterAll(async () => {
  await script.remove();
  await rm(folder, { recursive: true, force: true });
});

scenario('hub', async ({ seed, random, book }) => {
  const hub = await startFakeHub({ 'Tiny-Q4_0.gguf': bytes });
  const world: StoreWorld = {
    home: path.join(folder, 'home'),
    files: ['', ''],
    endpoint: hub.endpoint,
    cdnHost: new URL(hub.cdn).host,
  };
  misbehave(hub, random);
  const plan = JSON.stringify({ world, commands: ['pull', 'rm-pulled', 'pull'] });
  const child = spawn(process.execPath, [script.path, plan], { stdio: ['pipe', 'pipe', 'ignore'] });
  const ended = once(child, 'close');
  child.stdin.on('error', () => {});
  await Promise.race([once(child.stdout, 'data'), ended]);
  child.stdin.write('go\n');
  await Promise.race([delay(random.below(400)), ended]);
  const isKilled = child.kill('SIGKILL');
  await ended;
  book.count(isKilled ? 'kills' : 'pulls that ended before the kill');
  const problem = await whyBroken(world.home);
  if (problem !== null) book.found(seed, `${problem} after a kill`);
  hub.onHub = () => false;
  hub.onCdn = () => false;
  await runCommand('pull', world);
  const models = await openRegistry({ home: world.home }).list();
  if (!models.some(({ id }) => id === PULLED_ID)) book.found(seed, 'a good hub is pulled from in vain');
  await runCommand('rm-pulled', world);
});

/** Each answer may fail in its own way; a pull tries again, so some get through. */
function misbehave(hub: FakeHub, random: Random): void {
  const ways: readonly ((response: ServerResponse) => boolean)[] = [
    (response) => {
      response.socket?.resetAndDestroy();
      return true;
    },
    (response) => {
      response.writeHead(pick(random, [429, 500, 503, 403, 404]), { 'Retry-After': '0' }).end();
      return true;
    },
    (response) => {
      response.writeHead(200, { 'Content-Length': bytes.length });
      response.write(bytes.subarray(0, random.below(bytes.length)), () => response.destroy());
      return true;
    },
    (response) => {
      response.writeHead(200, { 'Content-Length': bytes.length }).end(Buffer.alloc(bytes.length, 7));
      return true;
    },
    // Says nothing until the other side has gone.
    () => true,
  ];
  const misbehaves = (): boolean => random.below(3) === 0;
  hub.onHub = (_, response) => misbehaves() && pick(random, ways.slice(0, 2))(response);
  hub.onCdn = (_, response) => misbehaves() && pick(random, ways)(response);
}
