/** `hearth doctor` on sound and unsound homes. */
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { Installation } from '../support/process/installation.ts';
import { endProcess, hearth, readyUrl, startHearth } from '../support/process/hearth.ts';

interface Found {
  readonly about: string;
  readonly verdict: string;
  readonly found: string;
  readonly remedy?: string;
}

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'hearth-doctor-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function doctor(env: Readonly<Record<string, string>>) {
  const { code, stdout, stderr } = await hearth(['doctor', '--json'], {
    HOME: folder,
    SVC_PORT: '0',
    ...env,
  });
  expect(stderr).toBe('');
  const findings = JSON.parse(stdout) as Found[];
  for (const { verdict, remedy } of findings) expect(remedy === undefined).toBe(verdict === 'ok');
  return { code, of: (about: string) => findings.filter((each) => each.about === about), findings };
}

describe('hearth doctor', () => {
  it('looks at everything, finds no problem on a sound machine, and leaves nothing behind', async () => {
    const home = path.join(folder, 'fresh');
    const { code, findings, of } = await doctor({ SVC_HOME: home });
    const abouts =
      'Hearth settings home engine GPU port address server models,other programs,Node processor memory,huge pages,disk';
    expect(new Set(findings.map(({ about }) => about))).toEqual(
      new Set(abouts.split(/,|(?<!other|huge) (?!programs|pages)/)),
    );
    expect(findings.filter(({ verdict }) => verdict === 'problem')).toEqual([]);
    expect(code).toBe(0);
    expect(of('engine')[0]?.found).toContain('llama.cpp loads');
    expect(await readdir(folder)).not.toContain('fresh');
  });

  it('says the same on one page', async () => {
    const { code, stdout } = await hearth(['doctor'], {
      SVC_HOME: path.join(folder, 'fresh'),
      SVC_PORT: '0',
    });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ok {7}Node/m);
    expect(stdout.split('\n').length).toBeLessThan(40);
  });

  it('knows its own service from another program on the port', async () => {
    const home = path.join(folder, 'served');
    const child = startHearth(['serve'], { SVC_HOME: home, SVC_PORT: '0' });
    try {
      const { port } = new URL(await readyUrl(child));
      const { of, code } = await doctor({ SVC_HOME: home, SVC_PORT: port });
      expect([code, of('port')[0]?.verdict, of('port')[0]?.found]).toEqual([
        0,
        'ok',
        expect.stringContaining('this instance answers'),
      ]);
      expect(of('server')[0]?.found).toContain(`hearth serve --port ${port}, process ${child.pid}`);
      expect(of('models')[0]?.found).toBe('2 installed');
    } finally {
      await endProcess(child);
    }
    const stranger = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
    await once(stranger, 'listening');
    onTestFinished(() => void stranger.close());
    const taken = String((stranger.address() as AddressInfo).port);
    const { of, code } = await doctor({ SVC_HOME: home, SVC_PORT: taken });
    expect([code, of('port')[0]?.verdict]).toEqual([1, 'problem']);
    expect(of('port')[0]?.found).toContain('taken by another program');
  });

  it('finds a broken settings file, a variable without effect, an open key and a model without its file', async () => {
    const home = path.join(folder, 'broken');
    const child = startHearth(['serve'], { SVC_HOME: home, SVC_PORT: '0' });
    await readyUrl(child);
    await endProcess(child);
    const model = path.join(folder, 'model.gguf');
    const { tinyModels } = await import('../support/tiny-models.ts');
    const { copyFile } = await import('node:fs/promises');
    await copyFile(tinyModels.chat, model);
    expect((await hearth(['import', model, '--id', 'mine'], { SVC_HOME: home })).code).toBe(0);
    await rm(model);
    await writeFile(path.join(home, 'config.toml'), 'keep_alive = "soon"\n');
    const instance = path.join(home, 'instance');
    for (const name of await readdir(instance)) await chmod(path.join(instance, name), 0o644);
    const { code, of } = await doctor({ SVC_HOME: home, SVC_KEEPALIVE: '5m' });
    expect(code).toBe(1);
    expect(of('settings').map(({ verdict }) => verdict)).toEqual(['problem', 'warning']);
    expect(of('settings')[0]?.found).toMatch(/keep_alive must be a duration/i);
    expect(of('home')[0]).toMatchObject({ verdict: 'problem', remedy: expect.stringMatching(/^chmod 600 /) });
    expect(of('models').at(-1)?.found).toBe(`mine lacks its file ${model}`);
  });

  it('says what to do where the engine is missing', async () => {
    const installation = await Installation.make({ native: false });
    try {
      const { code, stdout } = await installation.run(['doctor'], { SVC_PORT: '0' });
      expect(code).toBe(1);
      expect(stdout).toMatch(/^problem +engine /m);
      expect(stdout).toContain('docs/install.md lists the platforms');
    } finally {
      await installation.remove();
    }
  });

  it('finds a home that cannot be made', async () => {
    const file = path.join(folder, 'file');
    await writeFile(file, '');
    await mkdir(path.join(folder, 'other'), { recursive: true });
    const { code, of } = await doctor({ SVC_HOME: path.join(file, 'home') });
    expect([code, of('home')[0]?.verdict]).toEqual([1, 'problem']);
  });
});
