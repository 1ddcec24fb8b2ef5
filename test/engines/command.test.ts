/** A command of the user's: started for a request, watched, restarted, ended with all that it started. */
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  addCommand,
  type AddCommandPorts,
  type AskedCommand,
} from '../../src/server/api/remote-models/add-command.ts';
import { withProbe } from '../../src/server/api/remote-models/own-probe.ts';
import { type EngineService, startEngines } from '../support/upstream/service.ts';

const program = fileURLToPath(new URL('../support/upstream/program.mjs', import.meta.url));
let engines: EngineService;

beforeAll(async () => {
  engines = await startEngines({ PATH: process.env['PATH'] ?? '', SVC_API_KEY: 'hidden' });
});

afterAll(() => engines.close());

const asked = (name: string, over: Partial<AskedCommand> = {}): AskedCommand => ({
  name,
  command: [process.execPath, program, '--port', '{port}', '--model', 'good', '--model', 'slow'],
  basePath: '/v1',
  startMs: 20_000,
  dialect: null,
  models: [],
  cwd: process.cwd(),
  env: {},
  memoryBytes: null,
  maxCalls: null,
  ...over,
});
const add = (
  name: string,
  over: Partial<AskedCommand> = {},
  onStart: AddCommandPorts['onStart'] = () => {},
) =>
  withProbe('test', (probe) =>
    addCommand(
      {
        registry: engines.registry,
        engines: engines.engines,
        probe,
        env: { PATH: process.env['PATH'] },
        onStart,
      },
      asked(name, over),
      new AbortController().signal,
    ),
  );
const chat = (model: string, fields: object = {}) =>
  engines.service.client.chat({ model, messages: [{ role: 'user', content: 'Go.' }], ...fields });
const pidOf = async (id: string): Promise<number | null> => {
  const { body } = await engines.service.client.get('/svc/residency');
  return body.data.find((each: { id: string }) => each.id === id)?.pid ?? null;
};
const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

/** Processes of a group, without those that only wait to be forgotten. */
async function membersOf(group: number): Promise<number> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const stats = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')));
  const fields = stats.map((stat) => stat.slice(stat.lastIndexOf(')') + 2).split(' '));
  return fields.filter(([state, , pgrp]) => pgrp === String(group) && state !== 'Z').length;
}

describe('a supervised command', () => {
  it('is tried once, for its models, its dialect and its memory, and leaves nothing behind', async () => {
    const entry = await add('once');
    expect(entry).toMatchObject({ dialect: 'openai', models: [{ id: 'good', known: { name: 'good' } }] });
    if (process.platform === 'linux') expect(entry.models[0]?.memoryBytes).toBeGreaterThan(2 ** 20);
  });

  it('serves its model in a process of its own, counted in the plan, until it is unloaded', async () => {
    await add('box', { memoryBytes: 5 * 2 ** 20 });
    const { body } = await chat('box/good');
    expect(body.choices[0].message.content).toBe('Once upon a time there was a fox.');
    const residency = (await engines.service.client.get('/svc/residency')).body.data[0];
    expect(residency).toMatchObject({
      id: 'box/good',
      state: 'ready',
      memory: [{ planned_bytes: 5 * 2 ** 20 }],
    });
    expect((await engines.service.client.get('/v1/models/box/good')).body).toMatchObject({
      engine: 'command',
      owned_by: 'box',
    });
    const pid = (await pidOf('box/good')) ?? 0;
    expect(isAlive(pid)).toBe(true);
    await engines.service.client.post('/svc/unload', { model: 'box/good' });
    await expect.poll(() => isAlive(pid)).toBe(false);
  });

  it('that dies in the middle of an answer fails it by name, and is started again', async () => {
    // It says a half, and then nothing.
    await add('dies', { command: [process.execPath, program, '--port', '{port}', '--model', 'hung'] });
    const answer = () =>
      engines.service.client.streamChat({ model: 'dies/hung', messages: [{ role: 'user', content: 'x' }] });
    const stream = await answer();
    await stream.firstText();
    const pid = (await pidOf('dies/hung')) ?? 0;
    process.kill(pid, 'SIGKILL');
    const { error, done } = await stream.all();
    expect([error?.code, done]).toEqual(['worker_crashed', false]);
    const again = await answer();
    await again.firstText();
    expect(await pidOf('dies/hung')).not.toBe(pid);
    process.kill((await pidOf('dies/hung')) ?? 0, 'SIGKILL');
    await again.all();
  });

  it('that cannot start says what it wrote last, and is not kept', async () => {
    const words = [process.execPath, '-e', 'console.error("no CUDA device"); process.exit(3)', '{port}'];
    await expect(add('broken', { command: words })).rejects.toThrow(/exit code 3, after: no CUDA device/);
    await expect(engines.engines.find('broken')).rejects.toThrow('broken');
  });

  it.each(['no-such-program-here', '/no/such/program'])('that is not there is told so: %s', async (word) => {
    await expect(add('typo', { command: [word, '{port}'] })).rejects.toThrow(`there is no program ${word}`);
  });

  it('is told before it starts what {model} stands for, where that is no installed model', async () => {
    const words: (string | null)[] = [];
    const own = [...asked('words').command, '{model}'];
    await add('words', { command: own, models: ['some-word'] }, (word) => words.push(word));
    await add('words', { command: asked('words').command }, (word) => words.push(word));
    expect(words).toEqual(['some-word', null]);
  });

  it('that is slow to start is waited for; one that never answers is not', async () => {
    const slow = [...asked('slow').command, '--start-ms', '400'];
    expect((await add('slow', { command: slow })).models).toHaveLength(1);
    const never = [process.execPath, '-e', 'setInterval(() => {}, 1000)', '{port}'];
    await expect(add('never', { command: never, startMs: 300 })).rejects.toThrow(
      'did not answer within 0.3 s',
    );
  });

  it('gets no variable of the server but the harmless ones, and those that its user named', async () => {
    const words = [
      process.execPath,
      '-e',
      'console.error(Object.keys(process.env).sort().join(" ")); process.exit(1)',
      '{port}',
    ];
    const told = await add('env', { command: words, env: { VLLM_X: '1' } }).catch(
      (error: Error) => error.message,
    );
    expect(told).toContain('VLLM_X');
    expect(told).not.toContain('SVC_API_KEY');
  });

  it('needs places for what is filled in', async () => {
    await expect(add('noport', { command: ['x'] })).rejects.toThrow('{port}');
    await expect(add('nomodel', { models: ['a'] })).rejects.toThrow('{model}');
    await expect(add('Bad Name')).rejects.toThrow('Bad Name');
  });

  it.runIf(process.platform === 'linux')('ends with all that it started', async () => {
    // As arguments, because their paths may have spaces.
    const script = `"$1" -e 'setInterval(() => {}, 1000)' & exec "$1" "$2" --port {port} --model good`;
    await add('family', { command: ['/bin/sh', '-c', script, 'sh', process.execPath, program] });
    await chat('family/good');
    const pid = (await pidOf('family/good')) ?? 0;
    expect(await membersOf(pid)).toBeGreaterThan(1);
    await engines.service.client.post('/svc/unload', { model: 'family/good' });
    await expect.poll(() => isAlive(pid)).toBe(false);
    await expect.poll(() => membersOf(pid)).toBe(0);
  });
});
