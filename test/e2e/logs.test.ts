/** Log files, hearth logs and hearth requests, of a real service in a process of its own. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { collect } from '../support/process/hearth.ts';
import { Installation, type Served } from '../support/process/installation.ts';
import { temporaryFolder } from '../support/temp-home.ts';

let installation: Installation;
let served: Served;

beforeAll(async () => {
  installation = await Installation.make({ trained: false });
  served = await installation.serve({ SVC_RECORD: 'text' });
});

afterAll(() => installation.remove());

const settings = () => ({ SVC_PORT: served.port });
const chat = (id: string) =>
  served.client.chat(
    { messages: [{ role: 'user', content: 'Say a secret word' }], max_tokens: 4 },
    { 'x-request-id': id },
  );

describe('the log files', () => {
  it('hold the line of a request, which hearth logs finds by its id and goes on to follow', async () => {
    await chat('first');
    const following = installation.start(['logs', '-f'], settings());
    const output = collect(following);
    const sees = async (id: string): Promise<void> => {
      while (!output.stdout().includes(`"requestId":"${id}"`))
        await new Promise((resolve) => following.stdout?.once('data', resolve));
    };
    await sees('first');
    await chat('second');
    await sees('second');
    following.kill('SIGINT');
    const { stdout } = await installation.run(['logs', '--request', 'second'], settings());
    const lines = stdout.trim().split('\n');
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      route: '/v1/chat/completions',
      model: 'hearth-mini',
      waitMs: expect.any(Number),
    });
    const file = await readFile(path.join(served.home, 'logs', 'hearth.log'), 'utf8');
    expect(file).not.toContain('secret word');
  });

  it('are there only where a service has run', async () => {
    const { code, stderr } = await installation.run(['logs'], { SVC_HOME: await temporaryFolder() });
    expect([code, stderr]).toEqual([4, expect.stringContaining('SVC_LOG_FILES is 0')]);
  });
});

describe('hearth requests', () => {
  it('lists what was asked, shows one with its text, and sends it to another model', async () => {
    await chat('shown');
    const list = await installation.run(['requests'], settings());
    expect(list.stdout).toMatch(/POST \/v1\/chat\/completions +hearth-mini/);
    expect(list.stderr).toMatch(/Text of requests and answers is kept in memory for another 60 min/);
    const one = await installation.run(['requests', 'shown'], settings());
    expect(one.stdout).toMatch(/Processing the prompt \(prefill\) +[\d.]+ m?s/);
    expect(one.stdout).toContain('Say a secret word');
    const again = await installation.run(['requests', 'shown', '--send', '--model', 'default'], settings());
    expect(JSON.parse(again.stdout)).toMatchObject({ object: 'chat.completion', model: 'hearth-mini' });
    const har = path.join(await temporaryFolder(), 'all.har');
    await installation.run(['requests', '--har', har], settings());
    expect(JSON.parse(await readFile(har, 'utf8')).log.entries.length).toBeGreaterThan(1);
  });
});
