import { type ChildProcess, spawn } from 'node:child_process';
import type { Clock } from '../../../lib/base/clock.ts';
import { deferred } from '../../../lib/base/deferred.ts';
import { signalTree } from '../../../lib/base/process-tree.ts';
import { carriedVariables } from '../local/child/child-environment.ts';
import { StderrTail } from '../local/child/stderr-tail.ts';

/** Time between SIGTERM and SIGKILL, milliseconds. */
const GRACE_MS = 10_000;
const TAIL_CHARS = 4_096;
const TAIL_LINES = 3;
const REASON_CHARS = 300;

interface Start {
  readonly words: readonly string[];
  readonly cwd: string | null;
  readonly env: Readonly<Record<string, string>>;
  readonly hostEnv: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
}

export class Child {
  readonly pid: number;
  /** Resolves after the exit; null if `end` caused it. */
  readonly gone: Promise<string | null>;
  readonly #process: ChildProcess;
  readonly #clock: Clock;
  readonly #output = new StderrTail(TAIL_CHARS);
  #isAsked = false;
  #isGone = false;

  constructor({ words, cwd, env, hostEnv, clock }: Start) {
    const [program = '', ...args] = words;
    this.#clock = clock;
    this.#process = spawn(program, args, {
      ...(cwd === null ? {} : { cwd }),
      env: childEnvironment({ hostEnv, env }),
      stdio: ['ignore', 'pipe', 'pipe'],
      // Its own group: child processes of the command end with it, and Ctrl-C in the terminal reaches the server
      // only.
      detached: process.platform !== 'win32',
      windowsHide: true,
    });
    this.pid = this.#process.pid ?? 0;
    for (const stream of [this.#process.stdout, this.#process.stderr]) {
      stream?.setEncoding('utf8');
      stream?.on('data', (text: string) => this.#output.append(text));
    }
    const gone = deferred<string | null>();
    const end = (reason: string): void => {
      if (this.#isGone) return;
      this.#isGone = true;
      this.#signal('SIGKILL');
      gone.resolve(this.#isAsked ? null : `${reason}${this.#lastLines()}`);
    };
    this.#process.once('error', (error) => end(error.message));
    this.#process.once('exit', (code, signal) =>
      end(signal === null ? `exit code ${code}` : `signal ${signal}`),
    );
    this.gone = gone.promise;
  }

  get isGone(): boolean {
    return this.#isGone;
  }

  /** Sends SIGTERM to the group, then SIGKILL. Safe to call twice. */
  async end(): Promise<void> {
    if (!this.#isAsked && !this.#isGone) {
      this.#isAsked = true;
      this.#signal('SIGTERM');
      const cancel = this.#clock.after(GRACE_MS, () => this.#signal('SIGKILL'));
      void this.gone.then(cancel);
    }
    await this.gone;
  }

  #signal(signal: NodeJS.Signals): void {
    if (this.pid !== 0) signalTree(this.pid, signal);
  }

  /** Two lines, because the very last one often reports only the exit and the one before it the cause. */
  #lastLines(): string {
    const lines = this.#output.text.split('\n').map((line) => line.trim());
    const last = lines.filter((line) => line !== '').slice(-TAIL_LINES);
    return last.length === 0 ? '' : `, after: ${last.join('; ').slice(-REASON_CHARS)}`;
  }
}

export function childEnvironment({ hostEnv, env }: Pick<Start, 'hostEnv' | 'env'>): Record<string, string> {
  return { ...carriedVariables(hostEnv, process.platform), ...env };
}
