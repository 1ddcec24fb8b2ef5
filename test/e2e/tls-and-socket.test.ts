/** A service that speaks TLS, and one behind a socket: every verb finds them, and clients are told what is wrong. */
import { chmod, copyFile, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { get as getHttp, request as requestHttp } from 'node:http';
import { get as getHttps } from 'node:https';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { collect, endProcess, hearth, readyUrl, startHearth } from '../support/process/hearth.ts';

const fixture = (name: string): string =>
  fileURLToPath(new URL(`../fixtures/tls/${name}.pem`, import.meta.url));

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'hearth-tls-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Puts a pair where the settings name it. */
async function install(pair: 'first' | 'second'): Promise<{ SVC_TLS_CERT: string; SVC_TLS_KEY: string }> {
  const files = { SVC_TLS_CERT: path.join(folder, 'cert.pem'), SVC_TLS_KEY: path.join(folder, 'key.pem') };
  await copyFile(fixture(`${pair}.cert`), files.SVC_TLS_CERT);
  await copyFile(fixture(`${pair}.key`), files.SVC_TLS_KEY);
  await chmod(files.SVC_TLS_KEY, 0o600);
  return files;
}

/** The folder of a program under the name of an agent, which asks the service as Node.js does. */
async function agentThatAsks(): Promise<string> {
  const programs = path.join(folder, 'programs');
  await mkdir(programs);
  const file = path.join(programs, 'claude');
  const ask =
    "fetch(process.env.ANTHROPIC_BASE_URL + '/v1/models').then(({ status }) => console.log(status))";
  await writeFile(file, `#!${process.execPath}\n${ask};\n`);
  await chmod(file, 0o755);
  return programs;
}

type Get = typeof getHttp;
async function fetched(get: Get, ...args: Parameters<Get>): Promise<{ status: number; body: string }> {
  const [response] = (await once(get(...args), 'response')) as [IncomingMessage];
  let body = '';
  for await (const part of response) body += String(part);
  return { status: response.statusCode ?? 0, body };
}

describe('a service that speaks TLS', () => {
  it('answers clients that trust its certificate and every verb, and takes another one over', async () => {
    const home = path.join(folder, 'tls');
    const tls = await install('first');
    const env = { HOME: folder, SVC_HOME: home, ...tls };
    const child = startHearth(['serve'], { ...env, SVC_PORT: '0' });
    const output = collect(child);
    try {
      const url = await readyUrl(child, output);
      expect(output.stdout()).toContain(`curl --cacert ${tls.SVC_TLS_CERT} ${url}/v1/chat/completions`);
      const port = new URL(url).port;
      const known = { ...env, SVC_PORT: port };
      const ca = await readFile(fixture('first.cert'));
      // By a name of the certificate, which is no name of the machine.
      const named = { ca, servername: 'first.hearth.test', headers: { host: `first.hearth.test:${port}` } };
      expect((await fetched(getHttps, `${url}/v1/models`, named as object)).status).toBe(200);
      expect((await fetched(getHttps, `${url}/ui/`, { ca } as object)).body).toContain('<html');
      await expect(fetched(getHttps, `${url}/health`, {})).rejects.toThrow('self-signed');

      const plain = await fetched(getHttp, `http://127.0.0.1:${port}/health`, {});
      expect([plain.status, JSON.parse(plain.body).code]).toEqual([400, 'tls_required']);

      expect((await hearth(['status'], known)).stdout).toContain(`${url} is ready`);
      const answer = await hearth(['run', 'hearth-mini', 'Hello there'], known);
      expect([answer.code, answer.stdout]).toEqual([0, expect.stringContaining('hearth-mini')]);
      expect((await hearth(['page'], known)).stdout).toMatch(/^https:/);
      const launched = await hearth(['launch', 'claude'], { ...known, PATH: await agentThatAsks() });
      expect([launched.code, launched.stdout]).toEqual([0, '200\n']);
      expect(launched.stderr).toContain('NODE_EXTRA_CA_CERTS');
      const port0 = (await hearth(['doctor', '--json'], known)).stdout;
      expect(JSON.parse(port0)).toContainEqual(
        expect.objectContaining({
          about: 'TLS',
          verdict: 'ok',
          found: expect.stringContaining('first.hearth.test'),
        }),
      );
      const untold = { HOME: folder, SVC_HOME: home, SVC_PORT: port };
      expect((await hearth(['ps'], untold)).stderr).toContain('set SVC_TLS_CERT to its certificate');

      await install('second');
      // The service still has the first one, so whoever answers now is not known to be the service.
      const stranger = await hearth(['ps'], known);
      expect([stranger.code, stranger.stderr]).toEqual([
        1,
        expect.stringContaining('it shows another certificate'),
      ]);
      const renewed = new Promise<void>((resolve) =>
        child.stderr?.on('data', () => output.stderr().includes('cert.pem was read again') && resolve()),
      );
      child.kill('SIGHUP');
      await renewed;
      expect((await hearth(['ps'], known)).code).toBe(0);
      await writeFile(tls.SVC_TLS_KEY, 'rubbish');
      const kept = new Promise<void>((resolve) =>
        child.stderr?.on(
          'data',
          () => output.stderr().includes('the certificate stays as it was') && resolve(),
        ),
      );
      child.kill('SIGHUP');
      await kept;
      expect((await hearth(['ps'], known)).code).toBe(0);
      // Whoever connects and says nothing does not keep the service from ending.
      const silent = connect(Number(port), '127.0.0.1').on('error', () => {});
      await once(silent, 'connect');
    } finally {
      await endProcess(child);
    }
    expect(child.exitCode).toBe(0);
  });
});

describe.skipIf(process.platform === 'win32')('a service with a socket', () => {
  it('serves its own user there, replaces what a killed one left behind, and nothing else', async () => {
    const socket = path.join(folder, 'hearth.sock');
    const env = { HOME: folder, SVC_HOME: path.join(folder, 'socket'), SVC_SOCKET: socket };
    const first = startHearth(['serve'], { ...env, SVC_PORT: '0' });
    await readyUrl(first);
    expect((await stat(socket)).mode & 0o777).toBe(0o600);
    // A port where nothing listens: the verbs use the socket.
    const known = { ...env, SVC_PORT: '1' };
    expect((await hearth(['status'], known)).code).toBe(0);
    expect((await hearth(['run', 'hearth-mini', '--max-tokens', '1', 'Hello there'], known)).code).toBe(0);
    // The socket says whose request it is, so the page is given its token.
    const asked = requestHttp({
      socketPath: socket,
      method: 'POST',
      path: '/svc/page-token',
      headers: { host: 'localhost', 'sec-fetch-site': 'same-origin', origin: 'http://localhost' },
    });
    asked.end();
    const [told] = (await once(asked, 'response')) as [IncomingMessage];
    expect(told.statusCode).toBe(200);
    told.resume();
    const other = { ...env, SVC_HOME: path.join(folder, 'other'), SVC_PORT: '0' };
    const refused = await hearth(['serve'], other);
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringContaining('is in use by another program'),
    ]);

    await endProcess(first, 'SIGKILL');
    expect((await stat(socket)).isSocket()).toBe(true);
    expect((await hearth(['ps'], known)).stderr).toContain(`no server answers at ${socket}`);
    const second = startHearth(['serve'], { ...env, SVC_PORT: '0' });
    await readyUrl(second);
    expect((await hearth(['ps'], known)).code).toBe(0);
    await endProcess(second);
    await expect(stat(socket)).rejects.toThrow('ENOENT');

    await writeFile(socket, 'mine');
    expect((await hearth(['serve'], { ...env, SVC_PORT: '0' })).stderr).toContain(
      'exists and is not a socket',
    );
    expect(await readFile(socket, 'utf8')).toBe('mine');
    const deep = { ...env, SVC_PORT: '0', SVC_SOCKET: path.join(folder, 'x'.repeat(200)) };
    expect((await hearth(['serve'], deep)).stderr).toContain('is too long');
  });
});
