/** A service in a home that outlives it: started, killed, started again. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { ask } from '../client/ask.ts';

const CLI = path.resolve('bin', 'hearth.js');
/** Of two looks at the disk that show the same, nothing is being written any more. */
const LOOK_EVERY_MS = 3_000;
/** A service begins to save when it has been idle for five seconds. */
const SAVED_AFTER_MS = 6_000;

/** What `timings.cache` says, and the whole time of a one-token answer. */
export interface Reading {
  readonly ms: number;
  readonly prompt: number;
  readonly evaluated: number;
  readonly slot: number;
  readonly ram: number;
  readonly disk: number;
  readonly restoreMs: number;
  /** Tokens of the answer. */
  readonly written: number;
  readonly text: string;
}

interface Answer {
  readonly choices: readonly { readonly message: { readonly content: string } }[];
  readonly usage: { readonly prompt_tokens: number; readonly completion_tokens: number };
  readonly timings: {
    /** Prompt tokens evaluated, as llama-server counts them. */
    readonly prompt_n?: number;
    readonly cache?: { slot: number; ram: number; disk: number; restore_ms: number; evaluated: number };
  };
}

export class BenchHome {
  readonly #home: string;
  readonly #isKept: boolean;
  readonly #env: NodeJS.ProcessEnv;
  readonly #agent = new http.Agent();
  #child: ChildProcess | undefined;
  #url = '';

  /** `kept`: a folder that outlives the benchmark; absent: one of its own, which does not. */
  constructor(env: Readonly<Record<string, string>>, kept?: string) {
    this.#isKept = kept !== undefined;
    this.#home = kept ?? mkdtempSync(path.join(tmpdir(), 'hearth-bench-cache-'));
    this.#env = { ...process.env, SVC_HOME: this.#home, SVC_PORT: '0', SVC_LOG_LEVEL: 'error', ...env };
  }

  get url(): string {
    return this.#url;
  }

  get folder(): string {
    return this.#home;
  }

  /** The tokens of a conversation, as the model is given them. */
  async tokensOf(messages: readonly object[]): Promise<number[]> {
    const dry = await ask(
      `${this.#url}/v1/chat/completions?svc_dry_run=1`,
      { model: 'bench', messages },
      this.#agent,
    );
    const { rendered_prompt: content } = JSON.parse(dry.answer) as { rendered_prompt: string };
    const asked = { model: 'bench', content, parse_special: true };
    const { answer } = await ask(`${this.#url}/v1/tokenize`, asked, this.#agent);
    return (JSON.parse(answer) as { tokens: number[] }).tokens;
  }

  /** Another server, which is neither started nor ended here. */
  use(url: string): void {
    this.#url = url;
  }

  /** Where the model is installed already, it stays. */
  install(file: string): void {
    if (existsSync(path.join(this.#home, 'store'))) return;
    execFileSync(process.execPath, [CLI, 'import', path.resolve(file), '--id', 'bench'], {
      env: this.#env,
      stdio: 'ignore',
    });
  }

  async start(): Promise<void> {
    const child = spawn(process.execPath, [CLI, 'serve'], {
      env: this.#env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.#child = child;
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    this.#url = /https?:\/\/[^\s/]+/.exec(line.toString())?.[0] ?? '';
  }

  /** Loads the model with a prompt that shares nothing with any other. */
  async load(): Promise<void> {
    await this.ask([{ role: 'user', content: 'load' }]);
  }

  async ask(messages: readonly object[], fields: object = {}): Promise<Reading> {
    const begin = performance.now();
    // fetch gives up after five minutes without headers, which a prompt may take.
    const { answer } = await ask(
      `${this.#url}/v1/chat/completions`,
      {
        model: 'bench',
        messages,
        max_tokens: 1,
        temperature: 0,
        ...fields,
      },
      this.#agent,
    );
    const body = JSON.parse(answer) as Answer;
    const ms = performance.now() - begin;
    const {
      slot = 0,
      ram = 0,
      disk = 0,
      restore_ms: restoreMs = 0,
      evaluated = body.timings.prompt_n ?? 0,
    } = body.timings.cache ?? {};
    const text = body.choices[0]?.message.content ?? '';
    const { prompt_tokens: prompt, completion_tokens: written } = body.usage;
    return { ms, prompt, evaluated, slot, ram, disk, restoreMs, written, text };
  }

  /** Bytes of state on the disk now. */
  bytes(): number {
    const folder = path.join(this.#home, 'cache');
    if (!existsSync(folder)) return 0;
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((file) =>
      file.isFile(),
    );
    return files.reduce((sum, { parentPath, name }) => sum + sizeOf(path.join(parentPath, name)), 0);
  }

  /** The same, once no more are written. */
  async saved(): Promise<number> {
    for (let before = -1; ; await setTimeout(LOOK_EVERY_MS)) {
      const bytes = this.bytes();
      if (bytes > 0 && bytes === before) return bytes;
      before = bytes;
    }
  }

  /** The same, once what is idle now has gone to the disk. */
  async idleSaved(): Promise<number> {
    await setTimeout(SAVED_AFTER_MS);
    return this.saved();
  }

  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    this.#child = undefined;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  }

  async close(): Promise<void> {
    await this.kill();
    if (!this.#isKept) rmSync(this.#home, { recursive: true, force: true });
  }
}

/** 0 where it has gone meanwhile. */
function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
