import { describe, expect, it } from 'vitest';
import { findIdentityFault } from '../../src/trust/identity/sign-identity.ts';
import { routes } from '../../src/wire/routes.ts';
import {
  backendSha256,
  installed,
  scriptedService,
  sourceSha256,
  startScripted,
} from '../support/http/scripted-service.ts';
import { verifies } from './requirements.ts';

const service = scriptedService();

describe('GET /v1/identity', () => {
  it('reports the identity that the process is bound to, field by field', async () => {
    const { status, body } = await service.client.get('/v1/identity');
    verifies(['get-identity.request', 'get-identity.response'], () => expect(status).toBe(200));
    verifies('identity.object', () => expect(body.object).toBe('svc.identity'));
    verifies('identity.product', () => expect(body.product).toBe('hearth'));
    verifies('identity.version', () => expect(body.version).toBe('9.8.7'));
    verifies('identity.instance-id', () => expect(body.instance_id).toBe(service.instanceId));
    verifies('identity.boot-id', () => expect(body.boot_id).toBe(service.bootId));
    verifies('identity.server-source', () => expect(body.server_source_sha256).toBe(sourceSha256));
    verifies('identity.backend', () => expect(body.backend_sha256).toBe(backendSha256));
    verifies('identity.native-ready', () => expect(body.native_ready).toBe(true));
    verifies('identity.default-model', () => expect(body.default_model).toBe(installed.chat));
    verifies('identity.endpoints', () =>
      // What is served besides is named after these.
      expect(Object.fromEntries(Object.entries(body.endpoints).slice(0, 5))).toEqual({
        identity: '/v1/identity',
        models: '/v1/models',
        chat_completions: '/v1/chat/completions',
        completions: '/v1/completions',
        embeddings: '/v1/embeddings',
      }),
    );
    verifies('identity.tool-protocol', () =>
      expect(body.tool_protocol).toEqual({
        name: 'svc-tool-envelope',
        version: 1,
        max_calls_per_response: 1,
      }),
    );
    expect(Object.keys(body)).toHaveLength(11);
  });

  it('carries the same ids in both headers', async () => {
    const { headers, body } = await service.client.get('/v1/identity');
    verifies(['service.bound', 'endpoints.bound', 'get-identity.response'], () => {
      expect(headers['x-svc-instance-id']).toBe(body.instance_id);
      expect(headers['x-svc-boot-id']).toBe(body.boot_id);
    });
  });

  it('names the tool protocol and how many calls an answer can hold', async () => {
    const { tool_protocol } = (await service.client.get('/v1/identity')).body;
    verifies('tool-protocol.name', () => expect(tool_protocol.name).toBe('svc-tool-envelope'));
    verifies(['tool-protocol.version', 'versioning.tool-protocol'], () =>
      expect(tool_protocol.version).toBe(1),
    );
    verifies(['tool-protocol.max-calls', 'limits.tool-calls'], () =>
      expect(tool_protocol.max_calls_per_response).toBe(1),
    );
    expect(Object.keys(tool_protocol)).toHaveLength(3);
  });

  it('keeps the banner and the version apart', async () => {
    const { headers, body } = await service.client.get('/v1/identity');
    verifies(['service.banner', 'versioning.banner'], () => expect(headers['server']).toBe('hearth/1.2'));
    verifies(['versioning.version', 'versioning.banner'], () => expect(body.version).toBe('9.8.7'));
  });

  it('lists the path of text completions, and every path listed has a route', async () => {
    const { endpoints } = (await service.client.get('/v1/identity')).body;
    verifies('completions.listed', () => expect(endpoints.completions).toBe('/v1/completions'));
    const paths = Object.values(routes).map((route): string => route.path);
    expect(Object.keys(endpoints).length).toBeGreaterThanOrEqual(5);
    for (const path of Object.values<string>(endpoints)) {
      expect(paths).toContain(path);
      verifies('versioning.prefix', () => expect(path).toMatch(/^\/v1\//));
    }
  });

  it('is one of five routes that all answer in JSON', async () => {
    const replies = [
      await service.client.get('/health'),
      await service.client.get('/v1/identity'),
      await service.client.get('/v1/models'),
      await service.client.chat(),
      await service.client.embed({ input: 'x' }),
    ];
    verifies('service.five-routes', () =>
      expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]),
    );
    verifies('body.json', () => {
      for (const { headers } of replies) expect(headers['content-type']).toMatch(/^application\/json(;|$)/);
    });
  });

  it('has a null hash and native_ready false when no backend is bound', async () => {
    const bare = await startScripted({ nativeReady: false, models: false });
    const { body } = await bare.client.get('/v1/identity');
    await bare.close();
    verifies('identity.backend', () => expect(body.backend_sha256).toBeNull());
    verifies('identity.native-ready', () => expect(body.native_ready).toBe(false));
    // With nothing installed there is only the alias to name.
    expect(body.default_model).toBe('default');
  });

  it('signs itself together with a nonce, for a launcher that trusts nobody', async () => {
    const nonce = 'n-1234567890';
    const { body } = await service.client.get(`/v1/identity?nonce=${nonce}`);
    expect(body.signature).toMatchObject({ alg: 'Ed25519', nonce });
    const trust = { nonce, pinned: { instanceId: service.instanceId } };
    verifies('service.launcher', () => {
      expect(findIdentityFault(body, trust)).toBeNull();
      expect(findIdentityFault(body, { ...trust, nonce: 'n-0987654321' })).not.toBeNull();
      expect(findIdentityFault({ ...body, native_ready: false }, trust)).not.toBeNull();
    });
  });

  it.each([
    ['a short nonce', '/v1/identity?nonce=short'],
    ['a long nonce', `/v1/identity?nonce=${'n'.repeat(257)}`],
    ['two nonces', '/v1/identity?nonce=12345678&nonce=12345678'],
  ])('refuses %s and names the field', async (_, path) => {
    const { status, body } = await service.client.get(path);
    expect([status, body.param]).toEqual([400, 'nonce']);
  });
});
