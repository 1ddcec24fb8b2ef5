/** The built command line as its users have it: the service, and verbs beside it. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import path from 'node:path';
import { serve, type Served } from '../served.ts';

const run = promisify(execFile);
const VERB_MS = 120_000;

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export class Hearth {
  readonly url: string;
  readonly #env: Readonly<Record<string, string>>;
  #served: Served | null = null;
  #servedEnv = '';

  constructor(port: number, env: Readonly<Record<string, string>>) {
    this.url = `http://127.0.0.1:${port}`;
    this.#env = { ...env, SVC_PORT: String(port) };
  }

  /** Starts it anew unless it runs with this environment; milliseconds until /health answered. */
  async ensure(env: Readonly<Record<string, string>> = {}): Promise<number> {
    const wanted = JSON.stringify(env);
    if (this.#served !== null && wanted === this.#servedEnv) return this.#served.healthyMs;
    await this.stop();
    this.#served = await serve(Number(this.#env['SVC_PORT']), { ...this.#env, ...env });
    this.#servedEnv = wanted;
    return this.#served.healthyMs;
  }

  async stop(): Promise<void> {
    await this.#served?.close();
    this.#served = null;
  }

  /** Any exit code is an answer. */
  async verb(...args: readonly string[]): Promise<Ran> {
    const command = [path.resolve('bin', 'hearth.js'), ...args];
    const options = { env: { ...process.env, ...this.#env }, timeout: VERB_MS, maxBuffer: 64 * 2 ** 20 };
    try {
      const { stdout, stderr } = await run(process.execPath, command, options);
      return { code: 0, out: stdout, err: stderr };
    } catch (error) {
      const {
        code,
        stdout = '',
        stderr = '',
      } = error as { code?: unknown; stdout?: string; stderr?: string };
      return { code: typeof code === 'number' ? code : -1, out: stdout, err: stderr };
    }
  }

  /** What the verb prints with --json; anything but success is an error. */
  async json(...args: readonly string[]): Promise<unknown> {
    const { code, out, err } = await this.verb(...args, '--json');
    if (code !== 0) throw new Error(`hearth ${args.join(' ')} exited with ${code}: ${err || out}`);
    return JSON.parse(out);
  }

  async mustRun(...args: readonly string[]): Promise<void> {
    const { code, out, err } = await this.verb(...args);
    if (code !== 0) throw new Error(`hearth ${args.join(' ')} exited with ${code}: ${err || out}`);
  }
}
