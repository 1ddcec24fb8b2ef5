/** Pinning a prompt from the terminal: shown, bound to its key, there after a restart, and removed. */
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { writeTinyChat } from '../../tools/models/tiny-chat.ts';
import { importFile } from '../../src/store/install/import.ts';
import { openRegistry } from '../../src/store/registry/registry.ts';
import { HttpClient } from '../support/http/http-client.ts';
import { endProcess, hearth, readyUrl, startHearth } from '../support/process/hearth.ts';

const KEY = 'sk-of-the-owner';
const WORDS = 'the small house and the sea and the stones and the time ';
let folder: string;
let home: string;
let child: ReturnType<typeof startHearth>;
let client: HttpClient;

const settings = () => ({
  SVC_HOME: home,
  SVC_NUM_THREADS: '1',
  SVC_LOG_LEVEL: 'warn',
  SVC_API_KEY: KEY,
  SVC_NUM_PARALLEL: '1',
  SVC_CACHE_RAM: '8M',
  SVC_CACHE_DISK: '64M',
});
const verb = (...args: string[]) => hearth(args, { ...settings(), SVC_PORT: new URL(client.url).port });

async function serve(): Promise<void> {
  child = startHearth(['serve'], { ...settings(), SVC_PORT: '0' });
  client = new HttpClient(await readyUrl(child), { authorization: `Bearer ${KEY}` });
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'hearth-pins-'));
  home = path.join(folder, 'svc');
  const file = path.join(folder, 'tiny.gguf');
  await writeTinyChat(file, { contextLength: 4096 });
  await importFile(openRegistry({ home }), file, { id: 'tiny' });
  await serve();
});
afterAll(async () => {
  await endProcess(child);
  await rm(folder, { recursive: true, force: true });
});

async function evaluated(opening: string, said: string): Promise<number> {
  const messages = [
    { role: 'system', content: `${opening} ${WORDS.repeat(30)}` },
    { role: 'user', content: said },
  ];
  const { body } = await client.post('/v1/chat/completions', { model: 'tiny', messages, max_tokens: 2 });
  return body.timings.cache.evaluated;
}

it('keeps a prompt over a restart and among others, and says so', async () => {
  expect((await verb('cache', 'pin', 'tiny')).stderr).toContain('no chat of your key was answered');
  expect(await evaluated('mine', 'go')).toBeGreaterThan(400);
  const pinned = await verb('cache', 'pin', 'tiny');
  expect([pinned.code, pinned.stderr]).toEqual([
    0,
    expect.stringMatching(/^4\d\d tokens of tiny are pinned as pin_[0-9a-f]{12} \(\S+ KiB\)\.$/m),
  ]);
  const [id = ''] = /pin_[0-9a-f]+/.exec(pinned.stderr) ?? [];
  // Once more, it is the same one.
  expect((await verb('cache', 'pin', 'tiny')).stderr).toContain(id);
  expect((await verb('cache', 'pins')).stdout).toMatch(new RegExp(`^${id} +tiny +4\\d\\d +\\S+ KiB`, 'm'));
  const file = path.join(home, 'cache-pins.json');
  expect(await readFile(file, 'utf8')).not.toContain('house');
  if (process.platform !== 'win32') expect((await stat(file)).mode & 0o077).toBe(0);

  const { body: list } = await client.get('/svc/cache/pins');
  expect(list.data.map((pin: { id: string }) => pin.id)).toEqual([id]);
  const stranger = new HttpClient(client.url, { authorization: 'Bearer another' });
  expect((await stranger.get('/svc/cache/pins')).status).toBe(401);

  // An unload writes what is idle.
  await verb('stop', 'tiny');
  expect((await verb('cache')).stdout).toMatch(/^tiny +\S+ \S+ +\d+ +\S+ KiB/m);
  await endProcess(child);
  await serve();
  expect(await evaluated('mine', 'and now')).toBeLessThan(32);

  const gone = await verb('cache', 'unpin', id);
  expect([gone.code, gone.stderr]).toEqual([0, expect.stringContaining(`${id} of tiny is not pinned`)]);
  expect((await verb('cache', 'unpin', id)).code).toBe(4);
  expect((await verb('cache', 'pins')).stderr).toContain('No prompt is pinned.');
});

/** The only state is pinned: its files have a time in 2037, and nothing else was used. */
it('shows when pinned state was used, and gives it up when its model is not loaded', async () => {
  await verb('stop', 'tiny');
  await verb('cache', 'clear');
  const beforeMs = Date.now();
  expect(await evaluated('mine', 'go')).toBeGreaterThan(0);
  const { body: pin } = await client.post('/svc/cache/pins', { model: 'tiny' });
  await verb('stop', 'tiny');
  const pinnedBytes = async () => JSON.parse((await verb('cache', '--json')).stdout)[0].pinned_bytes;
  expect(await pinnedBytes()).toBeGreaterThan(0);
  const [{ last_used: used }] = JSON.parse((await verb('cache', '--json')).stdout);
  expect(Date.parse(used)).toBeGreaterThanOrEqual(beforeMs);
  expect(Date.parse(used)).toBeLessThanOrEqual(Date.now());
  expect((await verb('cache')).stdout).toMatch(/^tiny .* \d+ (?:s|min) ago$/m);
  const { body } = await client.post('/svc/cache/unpin', { id: pin.id });
  expect(body).toEqual(pin);
  expect(await pinnedBytes()).toBe(0);
});
