/** Hearth on Windows' Node, from its installation to a power cut; every check on the built-in models. */
import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeTinyChat } from '../../tools/models/tiny-chat.ts';
import { freePort } from '../support/process/free-port.ts';
import { hasWine, Windows } from './wine.ts';

/** Libraries that packaging/windows/build.sh made; without them the package's are tested. */
const BUILT = process.env['HEARTH_WINDOWS_LIBRARY'];

if (!hasWine) process.stdout.write('Windows was not tested: no Wine is here (Debian: apt install wine64).\n');

const chat = (text: string, more: object = {}) => ({
  model: 'hearth-mini',
  messages: [{ role: 'user', content: text }],
  max_tokens: 32,
  temperature: 0,
  ...more,
});

describe.runIf(hasWine)('Hearth on Windows', () => {
  let windows: Windows;
  let url = '';
  let env: Record<string, string> = {};
  beforeAll(async () => {
    windows = await Windows.install();
    env = { SVC_HOME: windows.pathOf(path.join(windows.folder, 'home')), SVC_PORT: String(await freePort()) };
  });
  afterAll(() => windows.remove());

  const post = async (route: string, body: object, headers: Record<string, string> = {}) => {
    const response = await fetch(`${url}${route}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    return { status: response.status, text: await response.text() };
  };

  it('is installed with the library of its platform alone', async () => {
    expect(await readdir(path.join(windows.app, 'node_modules', '@node-llama-cpp'))).toEqual(['win-x64']);
    expect(existsSync(path.join(windows.app, 'node_modules', '@koromix', 'koffi-win32-x64'))).toBe(true);
  });

  it('says what is slow, and the command that ends it', async () => {
    const { stdout } = await windows.hearth(['doctor'], env);
    expect(stdout).toContain('win32-x64');
    expect(stdout).toMatch(/llama\.cpp loads, from .*but it was compiled without optimisation/);
    expect(stdout).toContain('hearth library build');
  });

  it.runIf(BUILT !== undefined)('takes a library that was built for it', async () => {
    const folder = path.join(windows.folder, 'library');
    await mkdir(folder);
    for (const name of await readdir(BUILT ?? ''))
      if (name.endsWith('.dll')) await cp(path.join(BUILT ?? '', name), path.join(folder, name));
    const { code, stderr } = await windows.hearth(['library', 'use', windows.pathOf(folder)], env);
    expect([code, stderr]).toEqual([0, expect.stringContaining('was tried and copied')]);
    expect((await windows.hearth(['library'], env)).stdout).toContain('v0.5.0, your own build');
    expect((await windows.hearth(['doctor'], env)).stdout).not.toContain('without optimisation');
  });

  it('imports a model', async () => {
    const file = path.join(windows.folder, 'tiny.gguf');
    await writeTinyChat(file, { contextLength: 512 });
    const { code, stderr } = await windows.hearth(['import', windows.pathOf(file), '--id', 'tiny'], env);
    expect([code, stderr]).toEqual([0, expect.stringContaining('tiny is installed')]);
    expect((await windows.hearth(['list'], env)).stdout).toContain('tiny');
  });

  it('serves', async () => {
    url = await windows.serve(env);
    expect(await (await fetch(`${url}/health`)).json()).toMatchObject({ native_ready: true });
  });

  it('answers a chat', async () => {
    const { status, text } = await post('/v1/chat/completions', chat('Hello!'));
    expect(status).toBe(200);
    expect(JSON.parse(text).choices[0].message.content).toContain('Hearth');
  });

  it('streams, to the end', async () => {
    const { text } = await post('/v1/chat/completions', chat('Hello!', { stream: true }));
    const frames = text.trim().split('\n\n');
    expect(frames.length).toBeGreaterThan(3);
    expect(frames.at(-1)).toBe('data: [DONE]');
  });

  it('keeps a JSON schema', async () => {
    const schema = {
      type: 'object',
      properties: { n: { type: 'integer', minimum: 0, maximum: 99 } },
      required: ['n'],
      additionalProperties: false,
    };
    const format = { type: 'json_schema', json_schema: { name: 'n', strict: true, schema } };
    const { text } = await post(
      '/v1/chat/completions',
      chat('A number.', { response_format: format, max_tokens: 200 }),
    );
    const answer = JSON.parse(JSON.parse(text).choices[0].message.content);
    expect(Object.keys(answer)).toEqual(['n']);
    expect(Number.isInteger(answer.n)).toBe(true);
  });

  it('computes embeddings, and runs the imported model', async () => {
    const { text } = await post('/v1/embeddings', { model: 'hearth-embed', input: ['a river', 'a boat'] });
    const vectors = JSON.parse(text).data.map(({ embedding }: { embedding: number[] }) => embedding);
    expect(vectors.map((vector: number[]) => vector.length)).toEqual([768, 768]);
    expect(vectors[0]).not.toEqual(vectors[1]);
    expect(
      (await post('/v1/chat/completions', chat('Count on.', { model: 'tiny', max_tokens: 4 }))).status,
    ).toBe(200);
  });

  it('writes records that verify', async () => {
    const body = chat('Hello!', { max_tokens: 8 });
    const { status, text } = await post('/v1/chat/completions', body, { 'x-svc-evidence-mode': 'frozen-v1' });
    expect([status, text]).toEqual([200, expect.stringContaining('"evidence"')]);
    const [answer, request] = ['answer.json', 'request.json'].map((name) => path.join(windows.folder, name));
    await writeFile(answer ?? '', text);
    await writeFile(request ?? '', JSON.stringify(body));
    const args = [
      'evidence',
      'verify',
      windows.pathOf(answer ?? ''),
      '--request',
      windows.pathOf(request ?? ''),
    ];
    expect(await windows.hearth(args, env)).toMatchObject({ code: 0 });
    await writeFile(answer ?? '', text.replace(/"content":"./, '"content":"#'));
    expect(await windows.hearth(args, env)).toMatchObject({ code: 1 });
  });

  it('refuses a second server of the same home, and says who has it', async () => {
    const second = await windows.hearth(['serve'], { ...env, SVC_PORT: String(await freePort()) });
    expect(second.code).not.toBe(0);
    expect(second.stderr).toMatch(/home folder is in use/);
  });

  it('starts again after a power cut, with all it had', async () => {
    await windows.powerOff();
    await expect(fetch(`${url}/health`)).rejects.toThrow();
    url = await windows.serve(env);
    const { data } = (await (await fetch(`${url}/v1/models`)).json()) as { data: { id: string }[] };
    expect(data.map(({ id }) => id).sort()).toEqual(['hearth-embed', 'hearth-mini', 'tiny']);
    expect((await post('/v1/chat/completions', chat('Hello!'))).status).toBe(200);
  });
});
