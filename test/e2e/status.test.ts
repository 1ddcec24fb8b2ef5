/** `hearth status`: what a launcher does before it trusts a local endpoint. */
import { once } from 'node:events';
import { appendFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { Installation, type Served } from '../support/process/installation.ts';
import { verifies } from '../contract/requirements.ts';

let installation: Installation;
let served: Served;

beforeAll(async () => {
  installation = await Installation.make();
  served = await installation.serve({ SVC_API_KEY: 'status-key' });
});
afterAll(() => installation.remove());

const settings = () => ({ SVC_PORT: served.port, SVC_API_KEY: 'status-key' });
const report = async (overrides: Record<string, string> = {}) => {
  const { code, stdout } = await installation.run(['status', '--json'], { ...settings(), ...overrides });
  return { code, report: JSON.parse(stdout) };
};

/** Another program on a port; it keeps every request head that it receives. */
async function stranger(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const heads: string[] = [];
  const server = createServer((request, response) => {
    heads.push(`${request.url} ${request.rawHeaders.join(' ')}`);
    answer(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { port: String((server.address() as AddressInfo).port), heads };
}

describe('a stranger on the port', () => {
  const strangers: [string, (request: IncomingMessage, response: ServerResponse) => void][] = [
    ['that answers {}', (_, response) => void response.end('{}')],
    ['that answers with another shape', (_, response) => void response.end('{"object":"svc.identity"}')],
    ['that answers with no object', (_, response) => void response.end('null')],
    ['that asks for a key', (_, response) => void response.writeHead(401).end('{"error":"a key, please"}')],
    [
      'that asks for a key in the name of another instance',
      (_, response) =>
        void response.writeHead(401, { 'x-svc-instance-id': `svc-${'a'.repeat(26)}` }).end('{}'),
    ],
  ];

  it.each(strangers)('%s gets no API key, and an answer in one sentence', async (_, answer) => {
    const { port, heads } = await stranger(answer);
    const own = { SVC_PORT: port, SVC_API_KEY: 'status-key' };
    const status = await installation.run(['status'], own);
    expect(status.code).toBe(1);
    expect(status.stdout + status.stderr).toMatch(/not Hearth|but this home .* is instance/);
    expect(status.stderr).not.toContain('    at ');
    const serve = await installation.run(['serve'], own);
    expect([serve.code, serve.stderr]).toEqual([
      1,
      expect.stringContaining(`127.0.0.1:${port} is taken by another program`),
    ]);
    expect(heads.length).toBeGreaterThan(1);
    expect(heads.join('\n')).not.toContain('status-key');
  });
});

describe('a GPU setting', () => {
  it('makes another installed backend the bound one, and that is no problem', async () => {
    const home = installation.anotherHome();
    const gpu = await installation.serve({ ...home, SVC_GPU: 'vulkan' });
    const { body } = await gpu.client.get('/v1/identity');
    expect(body.backend_sha256).not.toBe((await served.client.get('/v1/identity')).body.backend_sha256);
    const { report: found } = await report({ ...home, SVC_PORT: gpu.port });
    expect(found.problems.filter((problem: string) => problem.includes('backend_sha256'))).toEqual([]);
    gpu.signal('SIGTERM');
    await gpu.ended();
  });
});

describe('hearth status', () => {
  it('finds nothing wrong with the service of this home and this installation', async () => {
    const { code, report: found } = await report();
    verifies('service.launcher', () => expect([code, found.ok, found.problems]).toEqual([0, true, []]));
    const { headers, body } = await served.client.get('/v1/identity');
    const { signature, ...identity } = found.identity;
    expect(identity).toEqual(body);
    expect(signature.alg).toBe('Ed25519');
    verifies('identity.boot-id', () => expect(identity.boot_id).toBe(headers['x-svc-boot-id']));
    verifies('identity.instance-id', () => expect(identity.instance_id).toBe(headers['x-svc-instance-id']));
  });

  it('says so in words, on stdout', async () => {
    const { code, stdout, stderr } = await installation.run(['status'], settings());
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain(`${served.url} is ready`);
    expect(stdout).toContain((await served.client.get('/v1/identity')).body.instance_id);
  });

  it('tells a service of another home from its own', async () => {
    const { code, report: found } = await report({ SVC_HOME: path.join(installation.folder, 'elsewhere') });
    verifies('service.launcher', () => {
      expect([code, found.ok]).toEqual([1, false]);
      expect(found.problems.join()).toMatch(/instance svc-\w+ answers, but this home .* is instance svc-\w+/);
    });
  });

  it('shows the sentence of the service when the key is wrong', async () => {
    const { code, stdout, stderr } = await installation.run(['status'], {
      ...settings(),
      SVC_API_KEY: 'other',
    });
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain('The API key that was sent is unknown here, or revoked');
  });

  it('has an exit code of its own for nobody there', async () => {
    const unserved = path.join(installation.folder, 'unserved');
    const { code, stderr } = await installation.run(['status'], { SVC_HOME: unserved, SVC_PORT: '1' });
    expect(code).toBe(3);
    expect(stderr).toContain('no server answers at http://127.0.0.1:1; start one with: hearth serve');
  });

  it('finds a key that was replaced while the service runs', async () => {
    expect((await installation.run(['evidence', 'rotate'])).code).toBe(0);
    const { code, report: found } = await report();
    expect([code, found.problems]).toEqual([0, []]);
  });

  it('notices that the installed files are no longer those that run', async () => {
    const before = (await served.client.get('/v1/identity')).body.server_source_sha256;
    await appendFile(path.join(installation.folder, 'dist', 'app.js'), '\n// changed after the start\n');
    const { code, report: found } = await report();
    expect([code, found.ok]).toEqual([1, false]);
    const after = (await served.client.get('/v1/identity')).body.server_source_sha256;
    verifies(['identity.server-source', 'get-identity.notes'], () => {
      expect(found.problems.join()).toContain('server_source_sha256 differs');
      // What runs is still what was started.
      expect(after).toBe(before);
    });
  });

  it('sees a new boot of the same instance after a restart', async () => {
    const first = (await served.client.get('/v1/identity')).body;
    served.signal('SIGTERM');
    expect(await served.ended()).toBe(0);
    served = await installation.serve({ SVC_API_KEY: 'status-key' });
    const second = (await served.client.get('/v1/identity')).body;
    verifies('identity.instance-id', () => expect(second.instance_id).toBe(first.instance_id));
    verifies('identity.boot-id', () => expect(second.boot_id).not.toBe(first.boot_id));
    expect(second.server_source_sha256).not.toBe(first.server_source_sha256);
    expect((await report()).report.problems).toEqual([]);
  });
});
