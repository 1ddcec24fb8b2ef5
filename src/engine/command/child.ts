/** One process of a command and its group: started, watched, ended. It does not know what the command serves. */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Clock } from '../../lib/base/clock.ts';
import { deferred } from '../../lib/base/deferred.ts';
import { signalTree } from '../../lib/base/process-tree.ts';
import { carriedVariables } from '../local/child/child-environment.ts';
import { StderrTail } from '../local/child/stderr-tail.ts';

/** Milliseconds from the request to end until the end by force. */
const GRACE_MS = 10_000;
/** Tail of its output, for the message about its end. */
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
  /** Resolves when it has ended; null: it was asked to end. */
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
      // A group of its own: whatever it starts ends with it, and Ctrl-C in the terminal reaches the server only.
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

  /** Asks the whole group to end, then makes it. Safe to call twice. */
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

  /** The very last line often says only that it ends; the cause is in the line before. */
  #lastLines(): string {
    const lines = this.#output.text.split('\n').map((line) => line.trim());
    const last = lines.filter((line) => line !== '').slice(-TAIL_LINES);
    return last.length === 0 ? '' : `, after: ${last.join('; ').slice(-REASON_CHARS)}`;
  }
}

/** Environment of a command: a few variables of this process, and its own. */
export function childEnvironment({ hostEnv, env }: Pick<Start, 'hostEnv' | 'env'>): Record<string, string> {
  return { ...carriedVariables(hostEnv, process.platform), ...env };
}
