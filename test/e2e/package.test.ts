/**
 * The package as a user has it: `npm install --global` into an empty prefix, one chat in an empty home, uninstall.
 * The packed form is the one that carries its packages, so that npm needs no network; which packages the other form
 * names, and by which hashes, test/architecture/lockfile.test.ts says.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { collect, endProcess, hearth, readyUrl, startHearth } from '../support/process/hearth.ts';
import { HttpClient } from '../support/http/http-client.ts';

const run = promisify(execFile);
const env = () => ({
  PATH: process.env['PATH'],
  HOME: folder,
  npm_config_cache: path.join(folder, 'cache'),
  npm_config_offline: 'true',
});

let folder: string;
let prefix: string;
let installed: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'hearth-package-'));
  prefix = path.join(folder, 'prefix');
  await mkdir(prefix);
  // npm keeps its own files in a home, which not every user has.
  const packed = await run(process.execPath, ['scripts/pack.mjs', '--bundled', '--to', folder], {
    env: { ...process.env, npm_config_cache: path.join(folder, 'cache') },
  });
  await run('npm', ['install', '--global', '--ignore-scripts', '--prefix', prefix, packed.stdout.trim()], {
    env: env(),
  });
  installed = path.join(prefix, 'lib', 'node_modules', 'hearth-llm');
}, 300_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('the installed package', () => {
  it('is one folder and one command', async () => {
    expect(await readdir(path.join(prefix, 'bin'))).toEqual(['hearth']);
    expect(await readdir(path.join(prefix, 'lib', 'node_modules'))).toEqual(['hearth-llm']);
    const { version } = JSON.parse(await readFile('package.json', 'utf8')) as { version: string };
    const { stdout } = await run(path.join(prefix, 'bin', 'hearth'), ['--version'], { env: env() });
    expect(stdout.trim()).toBe(version);
  });

  it('has its documentation, the licence and the bill of materials, and nothing of the checkout', async () => {
    for (const name of [
      'README.md',
      'CHANGELOG.md',
      'LICENSE',
      'SECURITY.md',
      'docs/models.md',
      'sbom.cdx.json',
      'THIRD-PARTY-LICENSES.txt',
    ])
      expect(existsSync(path.join(installed, name)), name).toBe(true);
    for (const name of [
      'src',
      'test',
      'training',
      'dist/.stamp',
      'node_modules/typescript',
      'node_modules/vitest',
    ])
      expect(existsSync(path.join(installed, name)), name).toBe(false);
    expect(
      (await readdir(path.join(installed, 'node_modules'))).filter((name) => !name.startsWith('.')),
    ).toEqual(['@koromix', '@node-llama-cpp', 'koffi']);
    const libraries = await readdir(path.join(installed, 'node_modules', '@node-llama-cpp'));
    expect(libraries).toHaveLength(1);
    const licences = await readFile(path.join(installed, 'THIRD-PARTY-LICENSES.txt'), 'utf8');
    for (const name of ['fastify', 'typebox', 'commander'])
      expect(licences).toMatch(new RegExp(`^${name} [\\d.]+ \\(MIT\\)$`, 'm'));
    expect(licences).toMatch(/^libwebp [\d.]+ \(BSD-3-Clause\), compiled into icodec$/m);
    const carried = await readdir(path.join(installed, 'node_modules'), { recursive: true });
    expect(carried.filter((name) => /\.d\.[cm]?ts$|\.map$/.test(name))).toEqual([]);
  });

  it('takes less than 150 MB, libraries and models included', async () => {
    const entries = await readdir(installed, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile());
    const sizes = await Promise.all(
      files.map(async ({ parentPath, name }) => (await stat(path.join(parentPath, name))).size),
    );
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(150_000_000);
  });

  it('answers a first chat from an empty home', async () => {
    const program = { bin: path.join(installed, 'bin', 'hearth.js'), cwd: folder };
    const home = { SVC_HOME: path.join(folder, 'home') };
    const child = startHearth(['serve'], { ...home, SVC_PORT: '0', SVC_NUM_THREADS: '1' }, program);
    try {
      const url = await readyUrl(child, collect(child));
      const messages = [{ role: 'user', content: 'Hello!' }];
      const { status, body } = await new HttpClient(url).chat({ model: 'default', messages, temperature: 0 });
      expect([status, body.choices[0].message.content]).toEqual([200, expect.stringMatching(/hearth-mini/)]);
      const check = await hearth(['status'], { ...home, SVC_PORT: new URL(url).port }, program);
      expect([check.code, check.stdout]).toEqual([0, expect.stringContaining('is ready')]);
    } finally {
      await endProcess(child);
    }
  });

  it('is gone after npm uninstall, and what it stored is left', async () => {
    await run('npm', ['uninstall', '--global', '--prefix', prefix, 'hearth-llm'], { env: env() });
    expect(existsSync(installed)).toBe(false);
    expect(await readdir(path.join(prefix, 'bin'))).toEqual([]);
    expect(existsSync(path.join(folder, 'home', 'store'))).toBe(true);
  });
});
