/** A platform without the native library: the service lives and says what is missing. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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
