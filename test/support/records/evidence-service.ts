/** The compiled service with a home that outlives its process, and the compiled CLI on the same home. */
import type { ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TinyChatOptions, writeTinyChat } from '../../../tools/models/tiny-chat.ts';
import type { Statement } from '../../../src/trust/evidence/statement.ts';
import { importFile } from '../../../src/store/install/import.ts';
import { openRegistry } from '../../../src/store/registry/registry.ts';
import { endProcess, hearth, type Outcome, type Program, readyUrl, startHearth } from '../process/hearth.ts';
import { removeFolder } from '../remove-folder.ts';

export interface FrozenReply {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into bodies of every kind
  readonly body: any;
}

export class EvidenceService {
  readonly folder: string;
  readonly env: Record<string, string>;
  readonly #program: Program;
  #child: ChildProcess | undefined;
  #url = '';

  private constructor(folder: string, program: Program, env: Record<string, string>) {
    this.folder = folder;
    this.#program = { ...program, cwd: folder };
    this.env = {
      SVC_HOME: path.join(folder, 'svc'),
      SVC_PORT: '0',
      SVC_NUM_THREADS: '1',
      SVC_LOG_LEVEL: 'warn',
      ...env,
    };
  }

  /** A home with one model per entry, a chat model or what it writes, and the built server of this test run unless another is named. */
  static async create(
    models: Readonly<Record<string, TinyChatOptions | ((file: string) => Promise<unknown>)>>,
    options: { readonly server?: string; readonly env?: Record<string, string> } = {},
  ): Promise<EvidenceService> {
    const folder = await mkdtemp(path.join(tmpdir(), 'hearth-evidence-'));
    const program = options.server === undefined ? {} : { dist: options.server };
    const service = new EvidenceService(folder, program, options.env ?? {});
    for (const [id, model] of Object.entries(models)) {
      const file = path.join(service.folder, `${id}.gguf`);
      await (typeof model === 'function' ? model(file) : writeTinyChat(file, model));
      await importFile(openRegistry({ home: path.join(service.folder, 'svc') }), file, { id });
    }
    return service;
  }

  get url(): string {
    return this.#url;
  }

  async start(): Promise<void> {
    this.#child = startHearth(['serve'], this.env, this.#program);
    this.#url = await readyUrl(this.#child);
  }

  async stop(): Promise<void> {
    if (this.#child !== undefined) await endProcess(this.#child);
  }

  async remove(): Promise<void> {
    await this.stop();
    await removeFolder(this.folder);
  }

  async post(
    body: unknown,
    headers: Record<string, string> = {},
    route = '/v1/chat/completions',
  ): Promise<FrozenReply> {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const response = await fetch(`${this.#url}${route}`, {
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

  freeze(body: unknown, headers: Record<string, string> = {}, route?: string): Promise<FrozenReply> {
    return this.post(body, { 'x-svc-evidence-mode': 'frozen-v1', ...headers }, route);
  }

  async identity(query = ''): Promise<{ readonly boot_id: string; readonly [name: string]: unknown }> {
    const response = await fetch(`${this.#url}/v1/identity${query}`);
    return (await response.json()) as { boot_id: string };
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
  cli(args: readonly string[], env: Record<string, string> = {}): Promise<Outcome> {
    return hearth(args, { ...this.env, ...env }, this.#program);
  }

  /** Saves a request and its frozen answer; tells the arguments that verify them. */
  async saveFrozen(
    name: string,
    body: object,
    headers: Record<string, string> = {},
  ): Promise<{ reply: FrozenReply; args: string[] }> {
    const text = JSON.stringify(body);
    const reply = await this.freeze(text, headers);
    const request = await this.save(`${name}.request.json`, text);
    const answer = await this.save(`${name}.json`, reply.bytes);
    return { reply, args: ['evidence', 'verify', answer, '--request', request] };
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
