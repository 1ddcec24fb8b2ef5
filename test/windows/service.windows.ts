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

  it.each([
    [
      'Messages',
      '/v1/messages',
      { model: 'hearth-mini', max_tokens: 16, messages: [{ role: 'user', content: 'Hi' }] },
    ],
    ['Responses', '/v1/responses', { model: 'hearth-mini', input: 'Hi', max_output_tokens: 16 }],
    ['completions', '/v1/completions', { model: 'hearth-mini', prompt: 'Hi', max_tokens: 4 }],
    [
      "Ollama's chat",
      '/api/chat',
      { model: 'hearth-mini', stream: false, messages: [{ role: 'user', content: 'Hi' }] },
    ],
    ['tokens', '/v1/tokenize', { model: 'hearth-mini', content: 'Hi' }],
    ['reranking', '/v1/rerank', { model: 'hearth-embed', query: 'a river', documents: ['water', 'a loan'] }],
    ['unloading', '/svc/unload', { model: 'tiny' }],
  ])('answers %s', async (_, route, body) => {
    expect(await post(route, body)).toMatchObject({ status: 200 });
  });

  it('calls a tool', async () => {
    const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
    const tool = { type: 'function', function: { name: 'weather', parameters } };
    const { text } = await post(
      '/v1/chat/completions',
      chat('Weather in Oslo?', { tools: [tool], tool_choice: 'required', max_tokens: 60 }),
    );
    const [call] = JSON.parse(text).choices[0].message.tool_calls;
    expect(Object.keys(JSON.parse(call.function.arguments))).toEqual(['city']);
  });

  it('serves its page and its metrics', async () => {
    expect(await (await fetch(`${url}/ui/`)).text()).toContain('<title>Hearth');
    expect(await (await fetch(`${url}/metrics`)).text()).toContain('hearth_');
  });

  it('refuses a path that is not there, in its own words', async () => {
    const { code, stderr } = await windows.hearth(['import', 'Z:\\nowhere\\x.gguf'], env);
    expect([code, stderr]).toEqual([4, expect.stringContaining('Z:\\nowhere\\x.gguf')]);
  });

  it('imports a file with a space and a letter beyond ASCII in its name', async () => {
    const folder = path.join(windows.folder, 'my größe');
    await mkdir(folder);
    const file = path.join(folder, 'tiny two.gguf');
    await writeTinyChat(file, { contextLength: 256 });
    const { code, stderr } = await windows.hearth(['import', windows.pathOf(file), '--id', 'two'], env);
    expect([code, stderr]).toEqual([0, expect.stringContaining('two is installed')]);
    expect((await windows.hearth(['rm', 'two'], env)).code).toBe(0);
  });

  it('keeps settings of a model', async () => {
    expect((await windows.hearth(['set', 'tiny', 'temperature=0.5'], env)).code).toBe(0);
    expect((await windows.hearth(['show', 'tiny'], env)).stdout).toContain('0.5');
  });

  it('answers in the terminal', async () => {
    const { code, stdout } = await windows.hearth(['run', 'hearth-mini', 'Hello!'], env);
    expect([code, stdout]).toEqual([0, expect.stringContaining('Hearth')]);
  });

  it('keeps and refuses keys', async () => {
    expect((await windows.hearth(['key', 'add', 'ann'], env)).stdout).toMatch(/^hearth_/);
    await expect
      .poll(async () => (await post('/v1/tokenize', { model: 'hearth-mini', content: 'x' })).status)
      .toBe(401);
    expect((await windows.hearth(['key', 'rm', 'ann'], env)).code).toBe(0);
    await expect
      .poll(async () => (await post('/v1/tokenize', { model: 'hearth-mini', content: 'x' })).status)
      .toBe(200);
  });

  it('knows this machine', async () => {
    const { stdout } = await windows.hearth(['doctor', '--json'], env);
    const about = (JSON.parse(stdout) as { about: string; verdict: string }[]).filter(
      ({ verdict }) => verdict === 'problem',
    );
    expect(about).toEqual([]);
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

  it('takes its workers with it when it is killed', async () => {
    const [server] = await windows.processes('hearth.js\0serve');
    expect((await windows.processes('main.js')).length).toBeGreaterThan(0);
    process.kill(server ?? 0, 'SIGKILL');
    await expect.poll(() => windows.processes('main.js'), { timeout: 30_000 }).toEqual([]);
    url = await windows.serve(env);
  });

  it('works off a file of requests, and keeps the answers', async () => {
    const lines = [0, 1, 2].map((at) => ({
      custom_id: `line-${at}`,
      method: 'POST',
      url: '/v1/chat/completions',
      body: chat(`Say ${at}.`, { max_tokens: 4 }),
    }));
    const form = new FormData();
    form.append('purpose', 'batch');
    form.append('file', new Blob([lines.map((line) => JSON.stringify(line)).join('\n')]), 'lines.jsonl');
    const file = JSON.parse(await (await fetch(`${url}/v1/files`, { method: 'POST', body: form })).text());
    const wanted = { input_file_id: file.id, endpoint: '/v1/chat/completions', completion_window: '1h' };
    const { id } = JSON.parse((await post('/v1/batches', wanted)).text);
    const batch = async () => JSON.parse(await (await fetch(`${url}/v1/batches/${id}`)).text());
    await expect.poll(async () => (await batch()).status, { timeout: 120_000 }).toBe('completed');
    const { output_file_id: output } = await batch();
    const answers = await (await fetch(`${url}/v1/files/${output}/content`)).text();
    expect(answers.trim().split('\n')).toHaveLength(lines.length);
  });

  it('keeps what it has read of a prompt over its end', async () => {
    const long = chat(`Remember: ${'the harbour was quiet that morning, and '.repeat(12)}then?`, {
      max_tokens: 4,
    });
    const asked = async () => JSON.parse((await post('/v1/chat/completions', long)).text).usage;
    expect((await asked()).prompt_tokens_details.cached_tokens).toBeLessThan(20);
    expect((await windows.hearth(['quit'], env)).code).toBe(0);
    url = await windows.serve(env);
    const { prompt_tokens: all, prompt_tokens_details: details } = await asked();
    expect(details.cached_tokens).toBeGreaterThan(all / 2);
  });

  it('lets a running answer finish when it is told to quit', async () => {
    expect((await post('/v1/chat/completions', chat('Hello!'))).status).toBe(200);
    const long = { stream: true, max_tokens: 900, ignore_eos: true };
    const streaming = post('/v1/chat/completions', chat('Hello!', long));
    const { code, stderr } = await windows.hearth(['quit'], env);
    expect([code, stderr]).toEqual([0, expect.stringContaining('The service has ended.')]);
    expect((await streaming).text.trim().split('\n\n').at(-1)).toBe('data: [DONE]');
    await expect(fetch(`${url}/health`)).rejects.toThrow();
    url = await windows.serve(env);
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
