/** A child process that loads GGUF files natively; when one kills it, the next call starts another. */
import { type ChildProcess, fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { builtSources } from '../../support/process/hearth.ts';

const SCRIPT = fileURLToPath(new URL('./fixtures/load-gguf.mjs', import.meta.url));
/**
 * Of work, as far as the system tells it. Some broken files send the library's own header reader into a loop; a load takes
 * a second at most, but on a busy machine that second may be long in coming.
 */
const LIMIT_MS = 30_000;
/** Limits that a child which does nothing may wait. */
const PATIENCE = 20;
/** A model is never closed, so a child that has opened many makes room for another. */
const MOST_ASKED = 200;

export type Outcome<Result> =
  | { readonly kind: 'done'; readonly result: Result }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'died'; readonly how: string }
  /** It said nothing within the limit and was ended here. */
  | { readonly kind: 'hung' };

export class NativeChild {
  #child: ChildProcess | undefined;
  #stderr = '';
  #asked = 0;
  readonly #limitMs: number;

  constructor(limitMs = LIMIT_MS) {
    this.#limitMs = limitMs;
  }

  async ask<Result>(task: string, path: string, options: unknown = {}): Promise<Outcome<Result>> {
    const child = await this.#running();
    let isLate = false;
    const before = workMsOf(child.pid);
    let looksLeft = PATIENCE;
    const timer = setInterval(() => {
      looksLeft -= 1;
      const worked = workMsOf(child.pid);
      if (looksLeft > 0 && worked !== null && worked - (before ?? 0) < this.#limitMs / 2) return;
      isLate = true;
      child.kill('SIGKILL');
    }, this.#limitMs);
    const answer = nextAnswer(child);
    child.send({ task, path, options });
    const end = await answer;
    clearInterval(timer);
    this.#asked += 1;
    if (isLate || 'how' in end) this.#child = undefined;
    else if (this.#asked >= MOST_ASKED) this.stop();
    if ('result' in end) return { kind: 'done', result: end.result as Result };
    if ('failure' in end) return { kind: 'refused', reason: end.failure };
    return isLate ? { kind: 'hung' } : { kind: 'died', how: `${end.how} ${this.#stderr}` };
  }

  async result<Result>(task: string, path: string, options: unknown = {}): Promise<Result> {
    const outcome = await this.ask<Result>(task, path, options);
    if (outcome.kind === 'done') return outcome.result;
    throw new Error(`${task} of ${path} ${outcome.kind}: ${JSON.stringify(outcome)}`);
  }

  stop(): void {
    this.#child?.kill('SIGKILL');
    this.#child = undefined;
  }

  async #running(): Promise<ChildProcess> {
    if (this.#child) return this.#child;
    const env = { PATH: process.env['PATH'], HOME: process.env['HOME'], GGML_NO_BACKTRACE: '1' };
    const child = fork(SCRIPT, [builtSources], {
      execArgv: [],
      env,
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    this.#stderr = '';
    child.stderr?.on('data', (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString()).slice(-400);
    });
    const first = await nextAnswer(child);
    if ('how' in first) throw new Error(`the native library did not start: ${first.how} ${this.#stderr}`);
    this.#child = child;
    this.#asked = 0;
    return child;
  }
}

/** Processor time of a process, milliseconds; null where the system does not tell. */
function workMsOf(pid = 0): number | null {
  try {
    // Behind the name, which may hold anything: the state is the third field; the fourteenth and fifteenth are ticks.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    return (Number(fields[11]) + Number(fields[12])) * 10;
  } catch {
    return null;
  }
}

type Answer = { readonly result: unknown } | { readonly failure: string } | { readonly how: string };

/** The child's next message, or how it ended. */
function nextAnswer(child: ChildProcess): Promise<Answer> {
  return new Promise((resolve) => {
    const onMessage = (message: unknown): void => finish(message as Answer);
    const onExit = (code: number | null, signal: string | null): void =>
      finish({ how: String(signal ?? code) });
    const finish = (answer: Answer): void => {
      child.off('message', onMessage);
      child.off('exit', onExit);
      resolve(answer);
    };
    child.on('message', onMessage);
    child.on('exit', onExit);
  });
}
