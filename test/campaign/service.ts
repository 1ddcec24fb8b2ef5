/** A service of its own process, with the tiny models, and the ways in which a campaign looks at it from outside. */
import { type ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import http from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { importFile } from '../../src/store/install/import.ts';
import { openRegistry } from '../../src/store/registry/registry.ts';
import { endProcess, readyUrl, startHearth } from '../support/process/hearth.ts';
import { tinyModels } from '../support/tiny-models.ts';

export interface Streamed {
  readonly status: number;
  readonly text: string;
  readonly done: boolean;
  readonly failed: boolean;
  /** A finish reason came. */
  readonly finished: boolean;
  /** The longest wait for the next bytes, and of what they came after. */
  readonly longestGapMs: number;
  readonly tokens: number;
}

export class CampaignService {
  readonly home: string;
  readonly #env: Record<string, string>;
  #child: ChildProcess | undefined;
  url = '';

  private constructor(home: string, env: Record<string, string>) {
    this.home = home;
    this.#env = env;
  }

  /** `env` may depend on where the home will be. */
  static async make(
    env: Record<string, string> | ((home: string) => Record<string, string>) = {},
  ): Promise<CampaignService> {
    const folder = await mkdtemp(path.join(tmpdir(), 'hearth-campaign-'));
    const home = path.join(folder, 'home');
    const registry = openRegistry({ home });
    await importFile(registry, tinyModels.chat, { id: 'tiny' });
    await importFile(registry, tinyModels.embedding, { id: 'embed' });
    return new CampaignService(home, typeof env === 'function' ? env(home) : env);
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  get exited(): boolean {
    return this.#child === undefined || this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  async start(): Promise<void> {
    this.#child = startHearth(['serve'], {
      SVC_HOME: this.home,
      SVC_PORT: '0',
      SVC_LOG_LEVEL: 'error',
      SVC_NUM_THREADS: '1',
      SVC_LOG_FILES: '0',
      ...this.#env,
    });
    this.#child.stderr?.resume();
    this.url = await readyUrl(this.#child);
  }

  /** The exit code; null after a signal that nobody handled. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    if (this.#child === undefined) return null;
    await endProcess(this.#child, signal);
    return this.#child.exitCode;
  }

  signal(name: NodeJS.Signals): void {
    this.#child?.kill(name);
  }

  async remove(): Promise<void> {
    await this.stop('SIGKILL');
    await rm(path.dirname(this.home), { recursive: true, force: true });
  }

  post(
    route: string,
    body: unknown,
    headers: Record<string, string> = {},
    { signal }: Partial<AbortController> = {},
  ): Promise<Response> {
    return fetch(this.url + route, {
      method: 'POST',
      signal: signal ?? null,
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  }

  /** How long /health takes, milliseconds; throws where it does not answer. */
  async healthMs(): Promise<number> {
    const begun = performance.now();
    const { status } = await get(`${this.url}/health`);
    if (status !== 200) throw new Error(`/health answered ${status}`);
    return performance.now() - begun;
  }

  /** How late the event loop was at most while jobs were open, since the last look; milliseconds. */
  async loopLagMs(): Promise<number> {
    const text = await (await fetch(`${this.url}/metrics`)).text();
    return 1_000 * Number(/^nodejs_eventloop_lag_max_seconds (\S+)/m.exec(text)?.[1]);
  }

  /** Processes that this server has forked. */
  children(): number[] {
    return readdirSync('/proc')
      .map(Number)
      .filter((pid) => parentOf(pid) === this.pid);
  }

  /** A chat as a stream, whatever becomes of it. */
  stream(
    content: string,
    maxTokens: number,
    extra: object = {},
    onText: () => void = () => {},
  ): Promise<Streamed> {
    const body = JSON.stringify({
      model: 'tiny',
      messages: [{ role: 'user', content }],
      max_tokens: maxTokens,
      temperature: 0,
      stream: true,
      ...extra,
    });
    return streamed(`${this.url}/v1/chat/completions`, body, onText);
  }
}

/** Zero where there is no such process, or it only waits to be collected. */
function parentOf(pid: number): number {
  if (!Number.isInteger(pid)) return 0;
  try {
    const [, parent] = /^\d+ \(.*\) [^Z] (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
    return Number(parent ?? 0);
  } catch {
    return 0;
  }
}

function get(url: string): Promise<{ status: number }> {
  return new Promise((resolve, reject) => {
    http
      .get(url, { agent: false }, (response) => {
        response.resume();
        response.once('end', () => resolve({ status: response.statusCode ?? 0 }));
      })
      .once('error', reject);
  });
}

function streamed(url: string, body: string, onText: () => void): Promise<Streamed> {
  return new Promise((resolve) => {
    let raw = '';
    let last: number | undefined;
    let longestGapMs = 0;
    const end = (status: number): void => {
      const frames = raw.split('\n\n').filter((frame) => frame.startsWith('data: '));
      const chunks = frames
        .filter((frame) => frame.startsWith('data: {'))
        .map((frame) => JSON.parse(frame.slice(6)));
      resolve({
        status,
        text: chunks.map((chunk) => chunk.choices?.[0]?.delta?.content ?? '').join(''),
        done: frames.includes('data: [DONE]'),
        failed: chunks.some((chunk) => 'error' in chunk),
        finished: chunks.some((chunk) => typeof chunk.choices?.[0]?.finish_reason === 'string'),
        longestGapMs,
        tokens: chunks.filter((chunk) => chunk.choices?.[0]?.delta?.content !== undefined).length,
      });
    };
    const request = http.request(
      url,
      { method: 'POST', agent: false, headers: { 'content-type': 'application/json' } },
      (response) => {
        response.on('data', (part: Buffer) => {
          const now = performance.now();
          if (last !== undefined) longestGapMs = Math.max(longestGapMs, now - last);
          last = now;
          raw += part.toString();
          onText();
        });
        response.once('error', () => end(response.statusCode ?? 0));
        response.once('close', () => end(response.statusCode ?? 0));
      },
    );
    request.once('error', () => end(0));
    request.end(body);
  });
}
