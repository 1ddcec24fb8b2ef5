/**
 * `hearth service`: what it writes is judged by the programs that read it, where they are present. What it asks systemctl
 * to do is recorded by a stand-in, because a test must not install services on the machine that runs it.
 */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { parseXml, type XmlElement } from '@rgrove/parse-xml';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endProcess, hearth, readyUrl, startHearth } from '../support/process/hearth.ts';

const run = promisify(execFile);
const analyze = ['/usr/bin/systemd-analyze', '/bin/systemd-analyze'].find((file) => existsSync(file));
const leftOut = analyze === undefined ? ' (left out: there is no systemd-analyze here)' : '';
const cannotRun = process.platform !== 'linux';

/** The tests may lie in a folder whose name systemd and the Task Scheduler want in quotation marks. */
const quoted = (file: string, special = /[^\w%$=/.:@+-]/): string =>
  special.test(file) ? `"${file}"` : file;
const PROGRAM = [process.execPath, path.resolve('bin/hearth.js')].map((file) => quoted(file)).join(' ');

let folder: string;
/** With everything that a unit file or XML could take for its own. */
let home: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'hearth-service-'));
  home = path.join(folder, 'my "home" %h $HOME & <more>');
  for (const name of ['bin', 'run', 'units']) await mkdir(path.join(folder, name));
  await chmod(path.join(folder, 'run'), 0o700);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const print = async (kind: string, args: readonly string[] = []) => {
  const outcome = await hearth(['service', 'install', '--print', '--for', kind, ...args], { SVC_HOME: home });
  expect([outcome.code, outcome.stderr]).toEqual([0, '']);
  return outcome.stdout;
};

describe('a unit for systemd', () => {
  const unitOf = async (kind: string, args: readonly string[] = []) => {
    const file = path.join(folder, 'units', `${kind}${args.join('')}.service`);
    await writeFile(file, await print(kind, args));
    return file;
  };
  const ask = (args: readonly string[]) =>
    run(analyze ?? '', ['--no-pager', ...args], {
      env: { ...process.env, XDG_RUNTIME_DIR: path.join(folder, 'run') },
    });

  it.skipIf(leftOut !== '')(`has no fault that systemd finds${leftOut}`, async () => {
    for (const [kind, scope] of [
      ['systemd-user', '--user'],
      ['systemd-system', '--system'],
    ] as const) {
      const { stdout, stderr } = await ask(['verify', '--man=no', scope, await unitOf(kind)]);
      // It warns of the machine's other units as well.
      expect(`${stdout}${stderr}`.split('\n').filter((line) => line.includes(kind))).toEqual([]);
    }
    const broken = path.join(folder, 'units', 'broken.service');
    await writeFile(broken, (await print('systemd-user')).replace('Type=exec', 'Typ=exec'));
    expect((await ask(['verify', '--man=no', '--user', broken])).stderr).toContain('Typ');
  });

  it.skipIf(leftOut !== '')(`is hardened by systemd's own measure${leftOut}`, async () => {
    const exposure = async (args: readonly string[]) => {
      const file = await unitOf('systemd-system', args);
      const { stdout } = await ask(['security', '--offline=true', file]);
      return Number(/exposure level for \S+: ([\d.]+)/.exec(stdout)?.[1]);
    };
    expect(await exposure([])).toBeLessThanOrEqual(2);
    expect(await exposure(['--gpu'])).toBeLessThanOrEqual(2.3);
  });

  it('starts this program with this home, and has started when it answers', async () => {
    const text = await print('systemd-user');
    expect(text).toContain(`ExecStart=${PROGRAM} serve\n`);
    expect(text).toContain(`ExecStartPost=${PROGRAM} service wait --timeout 90s\n`);
    const escaped = home.replaceAll('%', '%%').replaceAll('"', '\\"');
    expect(text).toContain(`Environment="SVC_HOME=${escaped}"\n`);
  });

  it('keeps the development endpoint apart', async () => {
    const { stdout } = await hearth(['--dev', 'service', 'install', '--print'], { SVC_HOME: home });
    expect(stdout).toContain(`ExecStart=${PROGRAM} --dev serve\n`);
    // The verb itself appends -dev to the home.
    expect(stdout).not.toContain('<more>-dev');
  });
});

describe('definitions in XML', () => {
  const texts = (element: XmlElement, name: string): string[] =>
    element.children.flatMap((child) =>
      child.type === 'element'
        ? (child as XmlElement).name === name
          ? [(child as XmlElement).text]
          : texts(child as XmlElement, name)
        : [],
    );
  const rootOf = (text: string): XmlElement => {
    const { root } = parseXml(text);
    if (root === null) throw new Error('no root');
    return root;
  };

  it('for launchd are well-formed, and carry every path as it is', async () => {
    const strings = texts(rootOf(await print('launchd')), 'string');
    expect(strings.slice(0, 4)).toEqual([
      'local.hearth',
      process.execPath,
      path.resolve('bin/hearth.js'),
      'serve',
    ]);
    expect(strings).toContain(home);
  });

  it('for the Task Scheduler are well-formed, and quote what has spaces', async () => {
    const root = rootOf(await print('windows'));
    expect(root.attributes['xmlns']).toBe('http://schemas.microsoft.com/windows/2004/02/mit/task');
    expect(texts(root, 'Command')).toEqual([process.execPath]);
    const [words] = texts(root, 'Arguments');
    expect(words).toBe(
      `${quoted(path.resolve('bin/hearth.js'), /\s/)} --home "${home.replaceAll('"', '\\"')}" serve`,
    );
  });
});

describe.skipIf(cannotRun)('installing for a user of systemd', () => {
  /** `journalctl` too; `failing` lists commands that fail. */
  async function standIn(failing = ''): Promise<() => Promise<string[]>> {
    const record = path.join(folder, 'record');
    await rm(record, { force: true });
    for (const name of ['systemctl', 'journalctl']) {
      const file = path.join(folder, 'bin', name);
      const script = `#!/bin/sh\necho "${name} $*" >> "${record}"\ncase "$*" in ${failing || '-'}) echo no bus >&2; exit 1;; esac\n`;
      await writeFile(file, script, { mode: 0o755 });
    }
    return async () => (await readFile(record, 'utf8')).trim().split('\n');
  }
  const env = () => ({
    PATH: `${path.join(folder, 'bin')}:${process.env['PATH']}`,
    HOME: folder,
    SVC_HOME: home,
    SVC_PORT: '1',
  });
  const unit = () => path.join(folder, '.config/systemd/user/hearth.service');
  const service = (...args: readonly string[]) => hearth(['service', ...args], env());

  it('writes the unit, enables and starts it; status, logs and uninstall follow', async () => {
    const commands = await standIn();
    const installed = await service('install');
    expect([installed.code, installed.stdout]).toEqual([0, '']);
    expect(installed.stderr).toContain(`is installed and runs: ${unit()}`);
    // The support code of the tests sets SVC_GPU.
    expect(installed.stderr).toContain('does not see SVC_PORT, SVC_GPU of this terminal');
    expect(await readFile(unit(), 'utf8')).toBe(await print('systemd-user'));
    const found = JSON.parse((await service('status', '--json')).stdout);
    expect(found).toMatchObject({ installed: true, current: true, running: true, answers: false });
    expect((await service('logs', '-n', '7')).code).toBe(0);
    expect((await service('uninstall')).stderr).toContain(`still in ${home}`);
    expect(existsSync(unit())).toBe(false);
    expect(await commands()).toEqual([
      'systemctl --user daemon-reload',
      'systemctl --user enable hearth.service',
      'systemctl --user restart hearth.service',
      'systemctl --user is-active --quiet hearth.service',
      'journalctl --user --unit hearth.service --lines 7',
      'systemctl --user disable --now hearth.service',
      'systemctl --user daemon-reload',
      'systemctl --user reset-failed hearth.service',
    ]);
    expect((await service('uninstall')).code).toBe(4);
    expect((await service('status')).code).toBe(3);
  });

  it.each(['daemon-reload', 'enable', 'restart'])(
    'leaves nothing behind where %s fails, and says what to do',
    async (failing) => {
      await rm(path.join(folder, '.config'), { recursive: true, force: true });
      await standIn(`*${failing}*`);
      const { code, stderr } = await service('install');
      expect([code, stderr]).toEqual([
        1,
        expect.stringMatching(
          new RegExp(`systemctl --user ${failing}.* failed: no bus; nothing was installed; log in as`),
        ),
      ]);
      expect(stderr).toContain('run: hearth serve');
      expect(existsSync(path.join(folder, '.config'))).toBe(false);
      expect((await service('status')).stdout).toContain('installed   no');
    },
  );

  it('keeps the definition that was there where its renewal fails', async () => {
    await standIn('*enable*');
    await mkdir(path.dirname(unit()), { recursive: true });
    await writeFile(unit(), 'of an earlier version');
    expect((await service('install')).code).toBe(1);
    expect(await readFile(unit(), 'utf8')).toBe('of an earlier version');
  });

  it('says where there is no systemctl, and leaves nothing behind', async () => {
    await rm(path.join(folder, '.config'), { recursive: true, force: true });
    const { code, stderr } = await hearth(['service', 'install'], {
      ...env(),
      PATH: path.join(folder, 'units'),
    });
    expect([code, stderr]).toEqual([1, expect.stringContaining('there is no systemctl on this machine')]);
    expect(existsSync(path.join(folder, '.config'))).toBe(false);
  });
});

describe('hearth service wait', () => {
  it('ends when the service answers, and with exit code 3 when none does', async () => {
    const settings = { SVC_HOME: path.join(folder, 'home') };
    const nobody = await hearth(['service', 'wait', '--timeout', '1ms'], { ...settings, SVC_PORT: '1' });
    expect([nobody.code, nobody.stderr]).toEqual([
      3,
      expect.stringContaining('nothing answers at http://127.0.0.1:1'),
    ]);
    // A program that takes connections and ends them is not Hearth, and no reason to give up early.
    const stranger = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
    await once(stranger, 'listening');
    const strange = String((stranger.address() as AddressInfo).port);
    const refused = await hearth(['service', 'wait', '--timeout', '200ms'], {
      ...settings,
      SVC_PORT: strange,
    });
    stranger.close();
    expect(refused.code).toBe(3);
    const child = startHearth(['serve'], { ...settings, SVC_PORT: '0' });
    try {
      const { port } = new URL(await readyUrl(child));
      expect((await hearth(['service', 'wait'], { ...settings, SVC_PORT: port })).code).toBe(0);
    } finally {
      await endProcess(child);
    }
  });
});
