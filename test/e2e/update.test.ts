/** hearth update on a checkout with a remote, and on a package in a prefix of npm: what it says, and what is there afterwards. */
import { execFile } from 'node:child_process';
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isOnPath } from '../../src/lib/files/program.ts';
import { leftOut } from '../support/left-out.ts';
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

const hasGit = await isOnPath('git', process.env['PATH']);

it.skipIf(!hasGit)(
  `takes the commits of a remote over, builds, and refuses where it would lose changes${leftOut(hasGit, 'there is no git here')}`,
  async () => {
    // In place of the real build, which needs the whole source.
    await mkdir(at('scripts'));
    await writeFile(
      at('scripts', 'build.mjs'),
      "import { appendFileSync } from 'node:fs';\nappendFileSync('built.txt', 'x');\n",
    );
    await writeFile(
      at('.gitignore'),
      'node_modules\ndist\nmodels\nhome*\nremote*\nbuilt.txt\nother\nprefix\nunit-*\nwarning\nprograms\nasked\nnext\n*.tgz\n',
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
  },
);

/** This build as npm installs it globally below a prefix. */
async function globalPackage(prefix: string): Promise<string> {
  const folder = at(prefix, 'lib', 'node_modules', 'hearth-llm');
  for (const name of ['bin', 'dist', 'package.json', 'node_modules'])
    await cp(at(name), path.join(folder, name), { recursive: true, verbatimSymlinks: true });
  return folder;
}

/** The file of a package of version 9.9.9. */
async function pack(name: string): Promise<string> {
  const next = at('next');
  await mkdir(next, { recursive: true });
  await writeFile(
    path.join(next, 'package.json'),
    JSON.stringify({ name, version: '9.9.9', bin: { hearth: 'h.js' } }),
  );
  await writeFile(path.join(next, 'h.js'), '#!/usr/bin/env node\n');
  const { stdout } = await exec('npm', ['pack', '--json', '--pack-destination', installation.folder], {
    cwd: next,
    // The user may have no home, in which the cache of npm is.
    env: { ...process.env, npm_config_cache: at('home-p', 'npm') },
  });
  return at((JSON.parse(stdout) as { filename: string }[])[0]!.filename);
}

it('installs a package file into the prefix of the package, whatever npm warns of', async () => {
  const folder = await globalPackage('prefix');
  const warning = at('warning');
  await mkdir(warning);
  const npm = `#!/bin/sh\necho 'npm notice New version of npm available!' >&2\nPATH='${process.env['PATH']}' exec npm "$@"\n`;
  await writeFile(path.join(warning, 'npm'), npm, { mode: 0o755 });
  const bin = { bin: path.join(folder, 'bin', 'hearth.js'), cwd: installation.folder };
  const PATH = `${warning}:${process.env['PATH']}`;
  const env = { SVC_HOME: at('home-p'), HOME: at('home-p'), npm_config_offline: 'true', PATH };
  const update = (...args: string[]) => hearth(['update', ...args], env, bin);
  expect((await update()).stderr).toContain('hearth update FILE.tgz');
  expect((await update('nowhere.tgz')).stderr).toContain('there is no file nowhere.tgz');
  expect((await update(await pack('other-thing'))).stderr).toContain('is not a package of Hearth');
  const file = await pack('hearth-llm');
  expect((await update(file, '--check')).stdout).toMatch(/^Hearth 0\.\d+\.\d+ in .* becomes 9\.9\.9, from /);
  expect((await update(file, '--yes')).code).toBe(0);
  expect(JSON.parse(await readFile(path.join(folder, 'package.json'), 'utf8')).version).toBe('9.9.9');
});

describe.skipIf(process.platform !== 'linux')('a unit of systemd', () => {
  /** In place of systemctl: notes what it is asked, and at a restart the version that would start. */
  async function standIn(folder: string, failing = 'nothing'): Promise<() => Promise<string[]>> {
    const [programs, record] = [at('programs'), at('asked')];
    await mkdir(programs, { recursive: true });
    await writeFile(record, '');
    const version = `"${process.execPath}" -p "require('${folder}/package.json').version"`;
    const script = `#!/bin/sh
case "$*" in
  *${failing}*) exit 1;;
  *restart*) echo "$* $(${version})" >> "${record}";;
  *) echo "$*" >> "${record}";;
esac
`;
    await writeFile(path.join(programs, 'systemctl'), script, { mode: 0o755 });
    return async () => (await readFile(record, 'utf8')).trim().split('\n');
  }

  const updated = async (prefix: string, failing?: string) => {
    const folder = await globalPackage(prefix);
    const asked = await standIn(folder, failing);
    const home = at(`home-${prefix}`);
    const env = {
      SVC_HOME: home,
      HOME: home,
      npm_config_offline: 'true',
      PATH: `${at('programs')}:${process.env['PATH']}`,
    };
    const unit = path.join(home, '.config/systemd/user/hearth.service');
    await mkdir(path.dirname(unit), { recursive: true });
    await writeFile(unit, '[Service]\n');
    const bin = { bin: path.join(folder, 'bin', 'hearth.js'), cwd: installation.folder };
    const outcome = await hearth(['update', await pack('hearth-llm'), '--yes'], env, bin);
    return { ...outcome, unit, asked: await asked() };
  };

  it('is restarted once the new version is there', async () => {
    const { code, stderr, unit, asked } = await updated('unit-a');
    expect([code, stderr]).toEqual([0, expect.stringContaining(`The service is restarted: ${unit}`)]);
    expect(asked).toEqual(['--user is-active --quiet hearth.service', '--user restart hearth.service 9.9.9']);
  });

  it('stays as it is where it does not run', async () => {
    const { code, stderr, asked } = await updated('unit-b', 'is-active');
    expect([code, asked]).toEqual([0, ['']]);
    expect(stderr).not.toContain('restarted');
  });

  it('is named with the command where it cannot be restarted', async () => {
    const { code, stderr } = await updated('unit-c', 'restart');
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/new version is installed, but .*: systemctl --user restart hearth\.service/),
    ]);
  });
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
