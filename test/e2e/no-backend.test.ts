/** Without a native library that it can use, the service lives and says what is missing. */
import { copyFile, mkdir } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findLibraries, packageName } from '../../src/lib/files/native-library.ts';
import { Installation, type Served } from '../support/process/installation.ts';
import { verifies } from '../contract/requirements.ts';

let installation: Installation;
let served: Served;

beforeAll(async () => {
  installation = await Installation.make({ native: false });
  served = await installation.serve();
});
afterAll(() => installation.remove());

describe('without a native backend', () => {
  it('health is 200 and says that it is not ready', async () => {
    const { status, body } = await served.client.get('/health');
    verifies(['health.native-ready', 'get-health.notes'], () =>
      expect([status, body.status, body.native_ready]).toEqual([200, 'ok', false]),
    );
  });

  it('readyz is a 503 until there is an upstream', async () => {
    const before = await served.client.get('/readyz');
    expect([before.status, before.body.code]).toEqual([503, 'native_unavailable']);
    const other = await installation.serve({ ...installation.anotherHome() });
    const env = { SVC_HOME: other.home, SVC_PORT: other.port };
    const added = await installation.run(['upstream', 'add', 'far', `http://127.0.0.1:${served.port}`], env);
    expect([added.code, (await other.client.get('/readyz')).status]).toEqual([0, 200]);
  });

  it('the identity has no hash', async () => {
    const { body } = await served.client.get('/v1/identity');
    verifies(['identity.backend', 'identity.native-ready'], () =>
      expect([body.backend_sha256, body.native_ready]).toEqual([null, false]),
    );
  });

  it.each([
    ['/v1/chat/completions', { messages: [{ role: 'user', content: 'x' }] }],
    ['/v1/chat/completions', { messages: [{ role: 'user', content: 'x' }], stream: true }],
    ['/v1/completions', { prompt: 'x' }],
  ])('%s is a clear 503 that is not worth a retry', async (path, fields) => {
    const { status, headers, body } = await served.client.post(path, { model: 'default', ...fields });
    expect([status, body.code, headers['x-should-retry']]).toEqual([503, 'native_unavailable', 'false']);
    expect(body.error).toContain('npm ci');
  });

  it('embeddings are a 503 too, and never made up unasked', async () => {
    const { status, headers, body } = await served.client.embed({ input: 'x' });
    expect([status, body.code]).toEqual([503, 'native_unavailable']);
    expect(headers['x-svc-embed-backend']).toBeUndefined();
  });

  it('hearth status says what to do', async () => {
    const { code, stdout } = await installation.run(['status', '--json'], { SVC_PORT: served.port });
    expect(code).toBe(1);
    expect(JSON.parse(stdout).problems.join()).toContain('npm ci');
  });

  it('feature-hash embeddings are served when the operator allows them', async () => {
    const allowing = await installation.serve({
      ...installation.anotherHome(),
      SVC_ALLOW_HASH_EMBEDDINGS: '1',
    });
    const { status, headers, body } = await allowing.client.embed({ input: ['one', 'two'] });
    const forbidden = await served.client.embed({ input: ['one', 'two'] });
    verifies(['embeddings.fallback', 'embeddings.backend-header'], () => {
      expect([status, headers['x-svc-embed-backend']]).toEqual([200, 'feature-hash']);
      expect([forbidden.status, forbidden.headers['x-svc-embed-backend']]).toEqual([503, undefined]);
    });
    expect(body.model).toBe('feature-hash-768');
    expect(body.data.map(({ embedding }: { embedding: number[] }) => embedding.length)).toEqual([768, 768]);
  });
});

describe('with a library of another llama.cpp', () => {
  let other: Installation;
  beforeAll(async () => {
    other = await Installation.make({ native: false });
    await plantOtherLibrary(other.folder);
  });
  afterAll(() => other.remove());

  it('names the file and the first function that it lacks, and does not run it', async () => {
    const { client, port } = await other.serve();
    const { body: answer, status } = await client.post('/v1/chat/completions', {
      model: 'default',
      ...asked,
    });
    expect([status, answer.code]).toEqual([503, 'native_unavailable']);
    expect(answer.error).toMatch(/llama\S+ is not the llama\.cpp that Hearth needs: llama_version: /);
    const { body: health } = await client.get('/health');
    expect(health.native_ready).toBe(false);
    const { code, stdout } = await other.run(['status', '--json'], { SVC_PORT: port });
    expect(code).toBe(1);
    expect(JSON.parse(stdout).problems.join()).toContain('hearth doctor says why');
  });
});

const asked = { messages: [{ role: 'user', content: 'x' }] };

/** The three libraries under their names, with ggml's base in the place of llama.cpp. */
async function plantOtherLibrary(installation: string): Promise<void> {
  const files = findLibraries('cpu', null);
  if (files === null) throw new Error('no llama.cpp library is installed');
  const bins = ['node_modules', '@node-llama-cpp', packageName('cpu'), 'bins', path.basename(files.folder)];
  const target = path.join(installation, ...bins);
  await mkdir(target, { recursive: true });
  for (const [name, source] of [
    [files.base, files.base],
    [files.ggml, files.ggml],
    [files.llama, files.base],
  ] as const)
    await copyFile(source, path.join(target, path.basename(name)));
}
