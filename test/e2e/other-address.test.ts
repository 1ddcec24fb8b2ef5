/** A service on another address than 127.0.0.1: what it prints works, and the commands of this machine know it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { collect, endProcess, hearth, readyUrl, startHearth } from '../support/process/hearth.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'hearth-address-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

// Elsewhere only 127.0.0.1 of these addresses is there.
describe.runIf(process.platform === 'linux')('a service on another address, with a named key', () => {
  it('says who is refused from now on, prints what works, and is found by status, run and doctor', async () => {
    const home = path.join(folder, 'home');
    const env = { HOME: folder, SVC_HOME: home, SVC_HOST: '127.0.0.2' };
    const first = await hearth(['key', 'add', 'laptop'], env);
    expect(first.stderr).toContain('requests without a key are refused');
    const second = await hearth(['key', 'add', 'phone'], env);
    expect(second.stderr).not.toContain('requests without a key are refused');
    expect((await hearth(['config'], env)).stdout).toMatch(
      /^SVC_API_KEY +\(a named key is required; hearth key list shows 2\) /m,
    );
    const key = first.stdout.trim();
    const child = startHearth(['serve'], { ...env, SVC_PORT: '0' });
    const output = collect(child);
    try {
      const url = await readyUrl(child, output);
      expect(url).toMatch(/^http:\/\/127\.0\.0\.2:\d+$/);
      expect(output.stdout()).toContain(
        `curl ${url}/v1/chat/completions -H "Authorization: Bearer $SVC_API_KEY"`,
      );
      const headers = { authorization: `Bearer ${key}` };
      expect((await fetch(`${url}/v1/models`, { headers })).status).toBe(200);
      expect((await fetch(`${url}/v1/models`)).status).toBe(401);
      const rotated = await hearth(['key', 'rotate', 'laptop', '--overlap', '1h'], env);
      expect(rotated.stderr).toContain('The old secret ends in 60 min.');
      const newHeaders = { authorization: `Bearer ${rotated.stdout.trim()}` };
      for (const each of [headers, newHeaders])
        expect((await fetch(`${url}/v1/models`, { headers: each })).status).toBe(200);
      const known = { ...env, SVC_PORT: new URL(url).port, SVC_API_KEY: key };
      expect((await hearth(['status'], known)).code).toBe(0);
      expect((await hearth(['run', 'hearth-mini', '--max-tokens', '1', 'Hello there'], known)).code).toBe(0);
      const elsewhere = await hearth(['status'], { ...known, SVC_HOST: '127.0.0.1' });
      expect(elsewhere.stderr).toContain(`hearth serve --host 127.0.0.2 --port ${known.SVC_PORT}`);
      const { stdout } = await hearth(['doctor', '--json'], known);
      const port = (JSON.parse(stdout) as { about: string }[]).find(({ about }) => about === 'port');
      expect(port).toMatchObject({ verdict: 'ok', found: expect.stringContaining('this instance answers') });
    } finally {
      await endProcess(child);
    }
    const unlimited = await hearth(['serve'], { ...env, SVC_PORT: '0', SVC_API_KEY: key });
    expect(unlimited).toMatchObject({ code: 2, stderr: expect.stringContaining('the named key laptop') });
    expect(unlimited.stderr).toContain('start without it: env -u SVC_API_KEY hearth serve');
    const [listed] = JSON.parse((await hearth(['key', 'list', '--json'], env)).stdout);
    expect([listed.name, Object.keys(listed)]).toEqual([
      'laptop',
      ['name', 'admin', 'localOnly', 'createdAt', 'oldSecretUntil', 'tokensToday'],
    ]);
    expect((await hearth(['key', 'rm', 'phone'], env)).stderr).not.toContain('No keys are left');
    expect((await hearth(['key', 'rm', 'laptop'], env)).stderr).toContain('No keys are left');
  });
});
