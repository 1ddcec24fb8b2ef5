/** hearth update on a checkout with a remote, and on a package in a prefix of npm: what it says, and what is there afterwards. */
import { execFile } from 'node:child_process';
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { hearth } from '../support/process/hearth.ts';
import { Installation } from '../support/process/installation.ts';

const exec = promisify(execFile);
let installation: Installation;
beforeAll(async () => {
  installation = await Installation.make({ trained: false });
});
afterAll(() => installation.remove());

const at = (...parts: string[]): string => path.join(installation.folder, ...parts);
const identity = ['-c', 'user.name=t', '-c', 'user.email=t@example.org', '-c', 'commit.gpgsign=false'];
const git = async (folder: string, ...args: string[]): Promise<string> =>
  (await exec('git', ['-C', folder, ...identity, ...args])).stdout.trim();

it('takes the commits of a remote over, builds, and refuses where it would lose changes', async () => {
  // In place of the real build, which needs the whole source.
  await mkdir(at('scripts'));
  await writeFile(
    at('scripts', 'build.mjs'),
    "import { appendFileSync } from 'node:fs';\nappendFileSync('built.txt', 'x');\n",
  );
  await writeFile(
    at('.gitignore'),
    'node_modules\ndist\nmodels\nhome*\nremote*\nbuilt.txt\nother\nprefix\nnext\n*.tgz\n',
  );
  await git(installation.folder, 'init', '--quiet', '--initial-branch=main');
  await git(installation.folder, 'add', '.');
  await git(installation.folder, 'commit', '--quiet', '-m', 'first');
  await exec('git', ['clone', '--quiet', '--bare', installation.folder, at('remote')]);
  await git(installation.folder, 'remote', 'add', 'origin', at('remote'));
  await git(installation.folder, 'fetch', '--quiet');
  await git(installation.folder, 'branch', '--quiet', '--set-upstream-to=origin/main');
  expect((await installation.run(['update'])).stderr).toContain('is up to date');

  await exec('git', ['clone', '--quiet', at('remote'), at('other')]);
  await writeFile(at('other', 'NEWS'), 'new');
  await git(at('other'), 'add', 'NEWS');
  await git(at('other'), 'commit', '--quiet', '-m', 'area: something new');
  await git(at('other'), 'push', '--quiet', 'origin', 'main');

  const head = () => git(installation.folder, 'rev-parse', 'HEAD');
  const before = await head();
  const check = await installation.run(['update', '--check']);
  expect([check.code, check.stdout]).toEqual([0, expect.stringContaining('area: something new')]);
  const unasked = await installation.run(['update']);
  expect([unasked.code, unasked.stderr]).toEqual([2, expect.stringContaining('hearth update --yes')]);
  await writeFile(
    at('scripts', 'build.mjs'),
    `${await readFile(at('scripts', 'build.mjs'), 'utf8')}// mine\n`,
  );
  const dirty = await installation.run(['update', '--yes']);
  expect([dirty.code, dirty.stderr]).toEqual([1, expect.stringContaining('scripts/build.mjs')]);
  expect(await head()).toBe(before);
  await git(installation.folder, 'checkout', '--quiet', '--', '.');

  const served = await installation.serve();
  const done = await installation.run(['update', '--yes']);
  expect([done.code, done.stderr]).toEqual([
    0,
    expect.stringContaining(`process ${served.pid}, still runs the old version`),
  ]);
  expect(await head()).toBe(await git(at('other'), 'rev-parse', 'HEAD'));
  expect(await readFile(at('built.txt'), 'utf8')).toBe('x');
  await installation.run(['quit'], { SVC_PORT: served.port });
  const file = await installation.run(['update', 'x.tgz']);
  expect([file.code, file.stderr]).toEqual([2, expect.stringContaining('is a git checkout')]);
});

it('installs a package file into the prefix of the package', async () => {
  const folder = at('prefix', 'lib', 'node_modules', 'hearth-llm');
  for (const name of ['bin', 'dist', 'package.json', 'node_modules'])
    await cp(at(name), path.join(folder, name), { recursive: true, verbatimSymlinks: true });
  const next = at('next');
  await mkdir(next);
  const pack = async (name: string): Promise<string> => {
    await writeFile(
      path.join(next, 'package.json'),
      JSON.stringify({ name, version: '9.9.9', bin: { hearth: 'h.js' } }),
    );
    await writeFile(path.join(next, 'h.js'), '#!/usr/bin/env node\n');
    const { stdout } = await exec('npm', ['pack', '--json', '--pack-destination', installation.folder], {
      cwd: next,
    });
    return at((JSON.parse(stdout) as { filename: string }[])[0]!.filename);
  };
  const bin = { bin: path.join(folder, 'bin', 'hearth.js'), cwd: installation.folder };
  const env = { SVC_HOME: at('home-p'), HOME: at('home-p'), npm_config_offline: 'true' };
  const update = (...args: string[]) => hearth(['update', ...args], env, bin);
  expect((await update()).stderr).toContain('hearth update FILE.tgz');
  expect((await update('nowhere.tgz')).stderr).toContain('there is no file nowhere.tgz');
  expect((await update(await pack('other-thing'))).stderr).toContain('is not a package of Hearth');
  const file = await pack('hearth-llm');
  expect((await update(file, '--check')).stdout).toMatch(/^Hearth 0\.\d+\.\d+ in .* becomes 9\.9\.9, from /);
  expect((await update(file, '--yes')).code).toBe(0);
  expect(JSON.parse(await readFile(path.join(folder, 'package.json'), 'utf8')).version).toBe('9.9.9');
});

it('says what to do with a copy that no program manages', async () => {
  const copy = await Installation.make({ trained: false });
  try {
    const { code, stderr } = await copy.run(['update']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('npm start')]);
  } finally {
    await copy.remove();
  }
});
