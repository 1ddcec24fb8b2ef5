/** A verb in a real pseudo-terminal, as a person sees and uses it: keys in, a screen out, and waiting only for output. */
import { spawn } from '@lydell/node-pty';
import { stripVTControlCharacters } from 'node:util';
import type { Settings } from './hearth.ts';

export class Terminal {
  readonly #pty: ReturnType<typeof spawn>;
  readonly #ended: Promise<number>;
  #hasEnded = false;
  #output = '';
  /** Up to where the output has been looked at. */
  #seen = 0;
  #notify: () => void = () => undefined;

  constructor(program: readonly string[], env: Settings, cwd?: string) {
    this.#pty = spawn(process.execPath, [...program], {
      name: 'xterm-256color',
      // Wide enough that no sentence is broken.
      cols: 300,
      rows: 40,
      env: { PATH: process.env['PATH'], TERM: 'xterm-256color', SVC_GPU: 'off', ...env },
      ...(cwd === undefined ? {} : { cwd }),
    });
    this.#pty.onData((text) => {
      this.#output += text;
      this.#notify();
    });
    this.#ended = new Promise((resolve) => {
      this.#pty.onExit(({ exitCode }) => {
        this.#hasEnded = true;
        resolve(exitCode);
        this.#notify();
      });
    });
  }

  /** Waits until the text appears behind what was seen so far, and returns the output up to it, without styles. */
  async sees(text: string): Promise<string> {
    for (;;) {
      const unseen = this.#output.slice(this.#seen);
      const at = unseen.indexOf(text);
      if (at !== -1) {
        this.#seen += at + text.length;
        return stripVTControlCharacters(unseen.slice(0, at + text.length)).replaceAll('\r', '');
      }
      if (this.#hasEnded) throw new Error(`ended without ${JSON.stringify(text)} after: ${unseen}`);
      await new Promise<void>((resolve) => {
        this.#notify = resolve;
      });
    }
  }

  types(keys: string): this {
    this.#pty.write(keys);
    return this;
  }

  /** Everything so far, escape sequences included. */
  get raw(): string {
    return this.#output;
  }

  signal(name: NodeJS.Signals): void {
    this.#pty.kill(name);
  }

  /** The exit code, once it has ended. */
  ended(): Promise<number> {
    return this.#ended;
  }

  async remove(): Promise<void> {
    if (!this.#hasEnded) this.#pty.kill('SIGKILL');
    await this.#ended;
  }
}
