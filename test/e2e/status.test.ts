/** `hearth status`: what a launcher does before it trusts a local endpoint. */
import { appendFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Installation, type Served } from '../support/installation.ts';
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

describe('hearth status', () => {
  it('finds nothing wrong with the service of this home and this installation', async () => {
    verifies('service.launcher', 'identity.server-source', 'identity.instance-id', 'identity.boot-id');
    const { code, report: found } = await report();
    expect([code, found.ok, found.problems]).toEqual([0, true, []]);
    const { headers, body } = await served.client.get('/v1/identity');
    const { signature, ...identity } = found.identity;
    expect(identity).toEqual(body);
    expect(signature.alg).toBe('Ed25519');
    expect(headers['x-svc-boot-id']).toBe(identity.boot_id);
  });

  it('says so in words, on stdout', async () => {
    const { code, stdout, stderr } = await installation.run(['status'], settings());
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain(`${served.url} is ready`);
    expect(stdout).toContain((await served.client.get('/v1/identity')).body.instance_id);
  });

  it('tells a service of another home from its own', async () => {
    verifies('service.launcher');
    const { code, report: found } = await report({ SVC_HOME: path.join(installation.folder, 'elsewhere') });
    expect([code, found.ok]).toEqual([1, false]);
    expect(found.problems.join()).toMatch(/instance svc-\w+ answers, but this home .* is instance svc-\w+/);
  });

  it('shows the sentence of the service when the key is wrong', async () => {
    const { code, stdout, stderr } = await installation.run(['status'], {
      ...settings(),
      SVC_API_KEY: 'other',
    });
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain('An API key is required');
  });

  it('has an exit code of its own for nobody there', async () => {
    const { code, stderr } = await installation.run(['status'], { SVC_PORT: '1' });
    expect(code).toBe(3);
    expect(stderr).toContain('no server answers at http://127.0.0.1:1; start one with: hearth serve');
  });

  it('says what to do when the key was replaced while the service runs', async () => {
    expect((await installation.run(['evidence', 'rotate'])).code).toBe(0);
    const { code, report: found } = await report();
    expect([code, found.ok]).toEqual([1, false]);
    expect(found.problems).toEqual([
      'the service still signs with a key that was replaced since it started; restart hearth serve',
    ]);
  });

  it('notices that the installed files are no longer those that run', async () => {
    verifies('identity.server-source', 'get-identity.notes');
    const before = (await served.client.get('/v1/identity')).body.server_source_sha256;
    await appendFile(path.join(installation.folder, 'dist', 'app.js'), '\n// changed after the start\n');
    const { code, report: found } = await report();
    expect([code, found.ok]).toEqual([1, false]);
    expect(found.problems.join()).toContain('server_source_sha256 differs');
    // What runs is still what was started.
    expect((await served.client.get('/v1/identity')).body.server_source_sha256).toBe(before);
  });

  it('sees a new boot of the same instance after a restart', async () => {
    verifies('identity.boot-id', 'identity.instance-id');
    const first = (await served.client.get('/v1/identity')).body;
    served.signal('SIGTERM');
    expect(await served.ended()).toBe(0);
    served = await installation.serve({ SVC_API_KEY: 'status-key' });
    const second = (await served.client.get('/v1/identity')).body;
    expect(second.instance_id).toBe(first.instance_id);
    expect(second.boot_id).not.toBe(first.boot_id);
    expect(second.server_source_sha256).not.toBe(first.server_source_sha256);
    expect((await report()).report.problems).toEqual([]);
  });
});
