/** What `npm start` and `npm test` do first: a real `npm ci` in a small checkout with one build tool. */
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const scripts = fileURLToPath(new URL('../../scripts', import.meta.url));

let checkout: string;
beforeEach(async () => {
  checkout = await mkdtemp(path.join(tmpdir(), 'hearth-checkout-'));
  await mkdir(path.join(checkout, 'scripts'));
  await mkdir(path.join(checkout, 'tool'));
  for (const name of ['prepare.mjs', 'start.mjs', 'wanted-address.mjs'])
    await cp(path.join(scripts, name), path.join(checkout, 'scripts', name));
  const manifest = { name: 'checkout', version: '1.0.0', devDependencies: { tool: 'file:tool' } };
  await write('package.json', manifest);
  await write('tool/package.json', { name: 'tool', version: '1.0.0' });
  await write('package-lock.json', {
    name: 'checkout',
    version: '1.0.0',
    lockfileVersion: 3,
    requires: true,
    packages: {
      '': manifest,
      'node_modules/tool': { resolved: 'tool', link: true },
      tool: { version: '1.0.0', dev: true },
    },
  });
});
afterEach(() => rm(checkout, { recursive: true, force: true }));

const write = (name: string, value: object) =>
  writeFile(path.join(checkout, name), JSON.stringify(value, null, 2));
const hasTool = () => existsSync(path.join(checkout, 'node_modules', 'tool', 'package.json'));

async function ensureInstalled(env: Readonly<Record<string, string>>): Promise<string> {
  const script = "import('./scripts/prepare.mjs').then((module) => module.ensureInstalled())";
  const options = {
    cwd: checkout,
    env: { PATH: process.env['PATH'], HOME: checkout, npm_config_offline: 'true', ...env },
  };
  const { stderr } = await promisify(execFile)(process.execPath, ['-e', script], options);
  return stderr;
}

describe('a fresh checkout', () => {
  it.each([{ NODE_ENV: 'production' }, { npm_config_omit: 'dev' }, {}])(
    'gets its build tools with %o, once',
    async (env) => {
      expect(await ensureInstalled(env)).toContain('Installing');
      expect(hasTool()).toBe(true);
      expect(await ensureInstalled(env)).toBe('');
    },
  );

  it('is left as it is where npm ci was run by hand, and installed anew when the lock file changes', async () => {
    const env = { PATH: process.env['PATH'], HOME: checkout, npm_config_offline: 'true' };
    await promisify(execFile)('npm', ['ci'], { cwd: checkout, env });
    expect(await ensureInstalled({})).toBe('');
    const lock = JSON.parse(await readFile(path.join(checkout, 'package-lock.json'), 'utf8'));
    lock.packages['node_modules/other'] = { resolved: 'tool', link: true };
    lock.packages[''].devDependencies.other = 'file:tool';
    await write('package.json', lock.packages['']);
    await write('package-lock.json', lock);
    expect(await ensureInstalled({})).toContain('Installing');
    expect(existsSync(path.join(checkout, 'node_modules', 'other', 'package.json'))).toBe(true);
  });

  it('is mended when its build tools are gone', async () => {
    await ensureInstalled({});
    await rm(path.join(checkout, 'node_modules', 'tool'), { recursive: true });
    expect(await ensureInstalled({})).toContain('Installing');
    expect(hasTool()).toBe(true);
  });
});

describe('npm start at a taken port', () => {
  let holder: net.Server;
  let port: string;
  beforeEach(async () => {
    holder = net.createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    port = String((holder.address() as net.AddressInfo).port);
    await mkdir(path.join(checkout, 'home'));
    await writeFile(path.join(checkout, 'home', 'config.toml'), `# ours\nport = ${port}\n`);
  });
  afterEach(() => holder.close());

  const start = async (words: readonly string[], env: Readonly<Record<string, string>>) => {
    const options = { cwd: checkout, env: { PATH: process.env['PATH'], npm_config_offline: 'true', ...env } };
    const failure = promisify(execFile)(process.execPath, ['scripts/start.mjs', ...words], options);
    return String(await failure.catch(({ stderr }) => stderr));
  };
  const home = () => ({ HOME: checkout, SVC_HOME: path.join(checkout, 'home') });

  it('says so before it installs and builds, and how to choose another', async () => {
    for (const refused of [
      start(['--port', port], { HOME: checkout }),
      start([], { ...home(), SVC_PORT: port }),
      start([], { HOME: checkout, SVC_HOST: `127.0.0.1:${port}` }),
      start([], home()),
    ]) {
      expect(await refused).toBe(
        `127.0.0.1:${port} is taken by another program or another Hearth; choose another port: npm start -- --port 9000\n`,
      );
    }
  });

  it('goes on with a port that is free, or that only the service can read', async () => {
    expect(await start(['--port=0'], home())).toContain('Installing');
    expect(await start([], { ...home(), SVC_PORT: '0' })).not.toContain('is taken');
  });
});
