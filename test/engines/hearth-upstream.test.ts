/** Two Hearths: one serves the other's models, as an upstream that runs already and as a command that it starts. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EngineStore } from '../../src/store/engines/engine-store.ts';
import type { UpstreamEntry } from '../../src/store/engines/entry.ts';
import { openRegistry } from '../../src/store/registry/registry.ts';
import { HttpClient } from '../support/http/http-client.ts';
import { entry, hearth, type Settings } from '../support/process/hearth.ts';
import { type ServiceProcess, startService } from '../support/process/service-process.ts';

let far: ServiceProcess;
let near: ServiceProcess;
let client: HttpClient;
let folder: string;
let settings: Settings;
const messages = [{ role: 'user', content: 'Go.' }];

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'hearth-two-'));
  [far, near] = await Promise.all([
    startService({}, { SVC_API_KEY: 'far-key' }),
    startService({}, { FAR_KEY: 'far-key' }),
  ]);
  client = new HttpClient(near.url);
  settings = { SVC_HOME: near.home, SVC_PORT: new URL(near.url).port, FAR_KEY: 'far-key' };
});

afterAll(async () => {
  await Promise.all([far?.close(), near?.close()]);
  await rm(folder, { recursive: true, force: true });
});

const publicKey = async (home: string, name: string): Promise<string> => {
  const file = path.join(folder, name);
  await writeFile(file, (await hearth(['evidence', 'pubkey'], { SVC_HOME: home })).stdout);
  return file;
};

describe('a second Hearth', () => {
  it('is added while both run, and its models are served at once', async () => {
    const key = await publicKey(far.home, 'far.pem');
    const args = ['upstream', 'add', 'far', far.url, '--key-env', 'FAR_KEY', '--public-key', key];
    const { code, stdout, stderr } = await hearth(args, settings);
    expect(code, stderr).toBe(0);
    expect(stdout.split('\n')).toContain('far/shape-test');
    const { body } = await client.get('/v1/models/far/shape-test');
    expect(body).toMatchObject({ engine: 'remote', owned_by: 'far', context_length: 4096 });
  });

  it('gives the very answer that it gives by itself', async () => {
    const fields = { messages, temperature: 0, seed: 1, max_tokens: 8, num_ctx: 512, top_k: 5 };
    const direct = await new HttpClient(far.url, { authorization: 'Bearer far-key' }).chat({
      model: far.model,
      ...fields,
    });
    const through = await client.chat({ model: 'far/shape-test', ...fields });
    expect(through.status).toBe(200);
    expect(through.headers['x-svc-ignored-params']).toBeUndefined();
    expect(through.body.choices[0].message).toEqual(direct.body.choices[0].message);
    expect(through.body.usage.total_tokens).toBe(direct.body.usage.total_tokens);
    const stream = await client.streamChat({ model: 'far/shape-test', ...fields });
    expect(await stream.all()).toMatchObject({ text: direct.body.choices[0].message.content, done: true });
  });

  it('speaks every dialect', async () => {
    const said = await client.post('/v1/messages', { model: 'far/shape-test', messages, max_tokens: 4 });
    expect([said.status, said.body.type]).toEqual([200, 'message']);
    const response = await client.post('/v1/responses', {
      model: 'far/shape-test',
      input: 'Go.',
      max_output_tokens: 4,
    });
    expect([response.status, response.body.object]).toEqual([200, 'response']);
  });

  it('is no model whose answers this service can sign', async () => {
    const body = { model: 'far/shape-test', messages, temperature: 0, max_tokens: 8 };
    const { status, body: refused } = await client.chat(body, { 'x-svc-evidence-mode': 'frozen-v1' });
    expect([status, refused.code]).toEqual([400, 'capability_missing']);
    expect(refused.error).toContain('repeat an answer bit for bit');
  });

  it('lets the user bound how far requests for one of its models may go', async () => {
    const limits = async () => {
      const { stdout } = await hearth(['upstream', 'show', 'far'], settings);
      return JSON.parse(stdout).limits;
    };
    const set = (...pairs: string[]) => hearth(['set', 'far/shape-test', ...pairs], settings);
    expect(await set('privacy=lan')).toMatchObject({ code: 0 });
    expect(await limits()).toEqual({ 'shape-test': 'lan' });
    expect(await set('privacy=')).toMatchObject({ code: 0 });
    expect(await limits()).toEqual({});
    for (const pairs of [['privacy=mars'], ['temperature=1'], ['privacy=lan', 'temperature=1']])
      expect(await set(...pairs)).toMatchObject({ code: 2 });
    expect(await limits()).toEqual({});
  });

  it('is listed by the identity, and named where it fails', async () => {
    const { body } = await client.get('/v1/identity');
    expect(body.upstreams).toEqual([
      expect.objectContaining({ name: 'far', dialect: 'hearth', privacy: 'local' }),
    ]);
    const refused = await client.chat({
      model: 'far/shape-test',
      messages: [{ role: 'user', content: 'x '.repeat(9_000) }],
    });
    expect([refused.status, refused.headers['x-svc-upstream']]).toEqual([400, 'far']);
    const vectors = await client.embed({ model: 'far/hearth-embed', input: 'x' });
    expect([vectors.status, vectors.headers['x-svc-upstream']]).toEqual([200, 'far']);
    const { stdout } = await hearth(['ps', '--json'], settings);
    expect(JSON.parse(stdout)).toMatchObject({
      data: expect.arrayContaining([expect.objectContaining({ id: 'far/shape-test' })]),
      upstreams: [expect.objectContaining({ name: 'far', privacy: 'local' })],
    });
  });

  it('can be the default, under another name', async () => {
    expect((await hearth(['alias', 'gpt-far', 'far/shape-test'], settings)).code).toBe(0);
    expect((await hearth(['default', 'gpt-far'], settings)).code).toBe(0);
    const { body } = await client.chat({ model: 'default', messages, max_tokens: 1 });
    expect(body.model).toBe('far/shape-test');
    const { stdout } = await hearth(['list', '--json'], settings);
    expect(JSON.parse(stdout)).toContainEqual(
      expect.objectContaining({ id: 'far/shape-test', isDefault: true }),
    );
  });

  it('is shown by its id, and loses a name, but no model, to hearth rm', async () => {
    const show = async () =>
      JSON.parse((await hearth(['show', 'far/shape-test', '--json'], settings)).stdout);
    expect(await show()).toMatchObject({ id: 'far/shape-test', owner: 'far', aliases: ['gpt-far'] });
    expect(await hearth(['rm', 'GPT-far'], settings)).toMatchObject({ code: 0 });
    expect((await show()).aliases).toEqual([]);
    const { code, stderr } = await hearth(['rm', 'far/shape-test'], settings);
    expect([code, stderr]).toEqual([4, expect.stringContaining('hearth upstream rm far removes')]);
  });

  it('that is not the pinned one is not added, and not spoken to', async () => {
    const add = (file: string) =>
      hearth(['upstream', 'add', 'other', far.url, '--key-env', 'FAR_KEY', '--public-key', file], settings);
    const key = await publicKey(near.home, 'near.pem');
    const refused = await add(key);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('signed with another key')]);
    await writeFile(path.join(folder, 'no.pem'), 'no key\n');
    expect((await add(path.join(folder, 'no.pem'))).stderr).toContain('is not one in PEM');
    expect((await client.chat({ model: 'other/shape-test', messages })).body.code).toBe('model_not_found');
    expect((await add(path.join(folder, 'far.pem'))).code).toBe(0);
    // Another Hearth has taken its place since.
    const engines = new EngineStore(openRegistry({ home: near.home }).store);
    const publicKeyPem = await readFile(key, 'utf8');
    await engines.update('other', (each) => ({ ...each, publicKey: publicKeyPem.trim() }) as UpstreamEntry);
    const { status, body } = await client.chat({ model: 'other/shape-test', messages });
    expect([status, body.code]).toEqual([503, 'upstream_unproved']);
    const tested = await hearth(['upstream', 'test', 'other'], settings);
    expect([tested.code, tested.stderr]).toEqual([1, expect.stringContaining('signed with another key')]);
  });

  it('is gone as soon as it is removed', async () => {
    expect((await hearth(['upstream', 'rm', 'far'], settings)).code).toBe(0);
    expect((await client.chat({ model: 'far/shape-test', messages })).body.code).toBe('model_not_found');
    expect((await client.chat({ model: 'default', messages, max_tokens: 1 })).body.model).toBe(near.model);
  });
});

describe('a Hearth as a command', () => {
  it('is tried, started for a request, and ended when it is removed', async () => {
    const home = path.join(folder, 'own');
    const words = [process.execPath, ...entry(['serve', '--port', '{port}'])];
    const env = ['--env', `SVC_HOME=${home}`, '--env', 'SVC_GPU=off'];
    const added = await hearth(['engine', 'add', 'own', ...env, '--', ...words], settings);
    expect([added.code, added.stdout.includes('own/hearth-')], added.stderr).toEqual([0, true]);
    const model = added.stdout.trim().split('\n')[0] ?? '';
    const { status } = await client.embed({ model, input: 'x' });
    expect(status).toBe(200);
    expect((await hearth(['engine', 'rm', 'own'], settings)).code).toBe(0);
    const { body } = await client.get('/svc/residency');
    expect(body.data.filter(({ id }: { id: string }) => id.startsWith('own/'))).toEqual([]);
  });
});
