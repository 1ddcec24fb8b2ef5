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
    verifies('identity.object', 'identity.product', 'identity.version', 'identity.instance-id');
    verifies('identity.boot-id', 'identity.server-source', 'identity.backend', 'identity.native-ready');
    verifies('identity.default-model', 'identity.endpoints', 'identity.tool-protocol');
    verifies('get-identity.response', 'get-identity.notes', 'get-identity.request');
    const { status, body } = await service.client.get('/v1/identity');
    expect(status).toBe(200);
    expect(body).toEqual({
      object: 'svc.identity',
      product: 'hearth',
      version: '9.8.7',
      instance_id: service.instanceId,
      boot_id: service.bootId,
      server_source_sha256: sourceSha256,
      backend_sha256: backendSha256,
      native_ready: true,
      default_model: installed.chat,
      endpoints: {
        identity: '/v1/identity',
        models: '/v1/models',
        chat_completions: '/v1/chat/completions',
        completions: '/v1/completions',
        embeddings: '/v1/embeddings',
      },
      tool_protocol: { name: 'svc-tool-envelope', version: 1, max_calls_per_response: 1 },
    });
  });

  it('carries the same ids in both headers', async () => {
    verifies('service.bound', 'endpoints.bound', 'get-identity.response');
    const { headers, body } = await service.client.get('/v1/identity');
    expect(headers['x-svc-instance-id']).toBe(body.instance_id);
    expect(headers['x-svc-boot-id']).toBe(body.boot_id);
  });

  it('names the tool protocol and how many calls an answer can hold', async () => {
    verifies('tool-protocol.name', 'tool-protocol.version', 'tool-protocol.max-calls', 'limits.tool-calls');
    verifies('versioning.tool-protocol');
    const { tool_protocol } = (await service.client.get('/v1/identity')).body;
    expect(tool_protocol).toStrictEqual({ name: 'svc-tool-envelope', version: 1, max_calls_per_response: 1 });
  });

  it('keeps the banner and the version apart', async () => {
    verifies('service.banner', 'versioning.banner', 'versioning.version');
    const { headers, body } = await service.client.get('/v1/identity');
    expect(headers['server']).toBe('hearth/1.2');
    expect(body.version).toBe('9.8.7');
  });

  it('lists the path of text completions, and every path listed has a route', async () => {
    verifies('completions.listed', 'service.five-routes', 'versioning.prefix');
    const { endpoints } = (await service.client.get('/v1/identity')).body;
    expect(endpoints.completions).toBe('/v1/completions');
    const paths = Object.values(routes).map((route): string => route.path);
    for (const path of Object.values<string>(endpoints)) {
      expect(paths).toContain(path);
      expect(path).toMatch(/^\/v1\//);
    }
  });

  it('has a null hash and native_ready false when no backend is bound', async () => {
    verifies('identity.backend', 'identity.native-ready');
    const bare = await startScripted({ nativeReady: false, models: false });
    const { body } = await bare.client.get('/v1/identity');
    await bare.close();
    expect([body.backend_sha256, body.native_ready]).toEqual([null, false]);
    // With nothing installed there is only the alias to name.
    expect(body.default_model).toBe('default');
  });

  it('signs itself together with a nonce, for a launcher that trusts nobody', async () => {
    verifies('service.launcher');
    const nonce = 'n-1234567890';
    const { body } = await service.client.get(`/v1/identity?nonce=${nonce}`);
    expect(body.signature).toMatchObject({ alg: 'Ed25519', nonce });
    const trust = { nonce, pinned: { instanceId: service.instanceId } };
    expect(findIdentityFault(body, trust)).toBeNull();
    expect(findIdentityFault(body, { ...trust, nonce: 'n-0987654321' })).not.toBeNull();
    expect(findIdentityFault({ ...body, native_ready: false }, trust)).not.toBeNull();
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
