/** The compiled service with a home that outlives its process, and the compiled CLI on the same home. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type TinyChatOptions, writeTinyChat } from '../../src/builtin/tiny-chat.ts';
import type { Statement } from '../../src/evidence/statement.ts';
import { importFile } from '../../src/models/import.ts';
import { openRegistry } from '../../src/models/registry.ts';

export const builtServer =
  process.env['HEARTH_TEST_DIST'] ?? fileURLToPath(new URL('../../dist', import.meta.url));

export interface FrozenReply {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into bodies of every kind
  readonly body: any;
}

export interface CliResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export class EvidenceService {
  readonly folder: string;
  readonly env: Record<string, string | undefined>;
  readonly #run: string;
  #child: ChildProcess | undefined;
  #url = '';

  private constructor(folder: string, server: string, env: Record<string, string>) {
    this.folder = folder;
    this.#run = `import(${JSON.stringify(`${server}/cli/main.js`)}).then(({ main }) => main(process.argv.slice(1)))`;
    this.env = {
      PATH: process.env['PATH'],
      SVC_HOME: path.join(folder, 'svc'),
      SVC_PORT: '0',
      SVC_GPU: 'off',
      SVC_NUM_THREADS: '1',
      SVC_LOG_LEVEL: 'warn',
      ...env,
    };
  }

  /** A home with one model per entry, and the built server of this test run unless another is named. */
  static async create(
    models: Readonly<Record<string, TinyChatOptions>>,
    options: { readonly server?: string; readonly env?: Record<string, string> } = {},
  ): Promise<EvidenceService> {
    const folder = await mkdtemp(path.join(tmpdir(), 'hearth-evidence-'));
    const service = new EvidenceService(folder, options.server ?? builtServer, options.env ?? {});
    for (const [id, model] of Object.entries(models)) {
      const file = path.join(service.folder, `${id}.gguf`);
      await writeTinyChat(file, model);
      await importFile(openRegistry({ home: path.join(service.folder, 'svc') }), file, { id });
    }
    return service;
  }

  get url(): string {
    return this.#url;
  }

  async start(): Promise<void> {
    const child = spawn(process.execPath, ['--input-type=module', '-e', this.#run, 'serve'], {
      env: this.env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    this.#url = await readyUrl(child);
  }

  async stop(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    await ended;
  }

  async remove(): Promise<void> {
    await this.stop();
    await rm(this.folder, { recursive: true, force: true });
  }

  async post(body: unknown, headers: Record<string, string> = {}): Promise<FrozenReply> {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const response = await fetch(`${this.#url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: text,
    });
    const bytes = Buffer.from(await response.arrayBuffer());
    const isJson = response.headers.get('content-type')?.includes('json') === true;
    return {
      status: response.status,
      headers: response.headers,
      bytes,
      body: isJson ? JSON.parse(bytes.toString()) : null,
    };
  }

  freeze(body: unknown, headers: Record<string, string> = {}): Promise<FrozenReply> {
    return this.post(body, { 'x-svc-evidence-mode': 'frozen-v1', ...headers });
  }

  /** Ends the process that holds a model, as a crash would. */
  async killWorkers(): Promise<number> {
    const list = (await (await fetch(`${this.#url}/svc/residency`)).json()) as {
      data: { pid: number | null }[];
    };
    const pids = list.data.flatMap(({ pid }) => (pid === null ? [] : [pid]));
    for (const pid of pids) process.kill(pid, 'SIGKILL');
    return pids.length;
  }

  /** Runs `hearth …` on the same home, in the folder of this service. */
  cli(args: readonly string[], env: Record<string, string> = {}): Promise<CliResult> {
    return new Promise((resolve) => {
      const options = { cwd: this.folder, env: { ...this.env, ...env } };
      execFile(
        process.execPath,
        ['--input-type=module', '-e', this.#run, ...args],
        options,
        (error, stdout, stderr) => resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
      );
    });
  }

  async save(name: string, content: unknown): Promise<string> {
    const text = typeof content === 'string' || Buffer.isBuffer(content) ? content : JSON.stringify(content);
    await writeFile(path.join(this.folder, name), text);
    return name;
  }
}

export function statementOf(reply: FrozenReply): Statement {
  return JSON.parse(Buffer.from(reply.body.evidence.payload, 'base64').toString()) as Statement;
}

/** What must be equal between repeats: output tokens, trace, and the digest of the response. */
export function outputOf(reply: FrozenReply): string {
  if (reply.status !== 200) throw new Error(`${reply.status}: ${reply.bytes.toString()}`);
  const { subject, predicate } = statementOf(reply);
  return [subject[0].digest.sha256, subject[1].digest.sha256, predicate.output.trace_sha256].join(' ');
}

export const sha256 = (content: Uint8Array | string): string =>
  createHash('sha256').update(content).digest('hex');

function readyUrl(child: ChildProcess): Promise<string> {
  let said = '';
  return new Promise((resolve, reject) => {
    const hear = (chunk: unknown): void => {
      said += String(chunk);
      const url = /ready at (http:\S+)/.exec(said)?.[1];
      if (url !== undefined) resolve(url);
    };
    child.stdout?.on('data', hear);
    child.stderr?.on('data', hear);
    child.once('exit', (code) => reject(new Error(`the service ended (${code}): ${said}`)));
  });
}
