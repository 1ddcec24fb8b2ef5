/**
 * A copy of the built package in a folder of its own, as a user has it installed, so that a test can change or damage
 * it, and so that a build beside the tests changes nothing under them. Needs a build.
 */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  builtDist,
  collect,
  endProcess,
  finish,
  type Outcome,
  type Output,
  readyUrl,
  type Settings,
  startHearth,
} from './hearth.ts';
import { HttpClient } from '../http/http-client.ts';
import { tinyModels } from '../tiny-models.ts';
import { removeFolder } from '../remove-folder.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

export class Installation {
  readonly folder: string;
  /** The home that commands use unless told otherwise; empty at first. */
  readonly home: string;
  readonly #children = new Set<ChildProcess>();
  #homes = 0;

  private constructor(folder: string) {
    this.folder = folder;
    this.home = path.join(folder, 'home');
  }

  /**
   * `native: false` leaves the native library out, as on a platform without them. `trained: false`
   * ships the tiny models under the names of the trained ones; their answers can be made endless.
   */
  static async make({ native = true, trained = true } = {}): Promise<Installation> {
    if (!existsSync(path.join(builtDist, 'cli', 'main.js')))
      throw new Error(`${builtDist} holds no build; run: npm run build`);
    const folder = await mkdtemp(path.join(tmpdir(), 'hearth-installed-'));
    await cp(builtDist, path.join(folder, 'dist'), { recursive: true });
    for (const name of ['bin', 'package.json', ...(trained ? ['models'] : [])])
      await cp(path.join(root, name), path.join(folder, name), { recursive: true });
    if (!trained) {
      await cp(tinyModels.chat, path.join(folder, 'models', 'hearth-mini', 'model.gguf'));
      await cp(tinyModels.embedding, path.join(folder, 'models', 'hearth-embed', 'model.gguf'));
    }
    if (native) await symlink(path.join(root, 'node_modules'), path.join(folder, 'node_modules'), 'dir');
    else await linkPackages(path.join(folder, 'node_modules'));
    return new Installation(folder);
  }

  /** An empty home of its own, for a second server beside the first. */
  anotherHome(): Settings {
    this.#homes += 1;
    return { SVC_HOME: path.join(this.folder, `home-${this.#homes}`) };
  }

  /** Runs a verb to its end. */
  run(args: readonly string[], settings: Settings = {}): Promise<Outcome> {
    return finish(this.start(args, settings));
  }

  /** Starts `hearth serve` on a free port and waits for its ready line. */
  async serve(settings: Settings = {}, args: readonly string[] = []): Promise<Served> {
    const child = this.start([...args, 'serve'], { SVC_PORT: '0', ...settings });
    const output = collect(child);
    const home = settings['SVC_HOME'] ?? this.home;
    return new Served(child, await readyUrl(child, output), { output, home, key: settings['SVC_API_KEY'] });
  }

  /** Ends what still runs and removes the copy. */
  async remove(): Promise<void> {
    for (const child of this.#children) await endProcess(child, 'SIGKILL');
    await removeFolder(this.folder);
  }

  /** Starts a verb and waits for nothing. */
  start(args: readonly string[], settings: Settings = {}): ChildProcess {
    const bin = path.join(this.folder, 'bin', 'hearth.js');
    const child = startHearth(args, { SVC_HOME: this.home, ...settings }, { bin, cwd: this.folder });
    this.#children.add(child);
    child.once('close', () => this.#children.delete(child));
    return child;
  }
}

interface ServedFacts {
  readonly output: Output;
  readonly home: string;
  readonly key: string | undefined;
}

/** A running `hearth serve`. */
export class Served {
  readonly url: string;
  readonly home: string;
  readonly client: HttpClient;
  readonly pid: number;
  readonly #child: ChildProcess;
  readonly #output: Output;

  constructor(child: ChildProcess, url: string, { output, home, key }: ServedFacts) {
    this.#child = child;
    this.url = url;
    this.home = home;
    this.pid = child.pid ?? 0;
    this.#output = output;
    this.client = new HttpClient(url, key === undefined ? {} : { authorization: `Bearer ${key}` });
  }

  get port(): string {
    return new URL(this.url).port;
  }

  get stdout(): string {
    return this.#output.stdout();
  }

  get stderr(): string {
    return this.#output.stderr();
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  /** The exit code, once it has ended. */
  async ended(): Promise<number | null> {
    if (this.#child.exitCode !== null) return this.#child.exitCode;
    const [code] = (await once(this.#child, 'close')) as [number | null];
    return code;
  }

  /** Process ids of the workers that hold a model. */
  async workers(): Promise<number[]> {
    const { body } = await this.client.get('/svc/residency');
    return body.data.flatMap(({ pid }: { pid: number | null }) => pid ?? []);
  }
}

/** A node_modules without the prebuilt libraries, which are looked up from where the compiled sources lie. */
async function linkPackages(target: string): Promise<void> {
  const source = path.join(root, 'node_modules');
  await mkdir(target);
  for (const name of await readdir(source)) {
    if (name.startsWith('.') || name === '@node-llama-cpp') continue;
    await symlink(path.join(source, name), path.join(target, name), 'dir');
  }
}
