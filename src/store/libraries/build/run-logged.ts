import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { signalTree } from '../../../lib/base/process-tree.ts';

export interface RunOptions {
  readonly log: string;
  readonly signal: AbortSignal;
  /** The whole environment; nothing is inherited. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  readonly onLine?: (line: string) => void;
}

const LAST_LINES = 20;
const MOST_LINE = 400;

/** Rejects with the program's last lines. An abort ends it and everything that it started. */
export async function runLogged(
  program: string,
  args: readonly string[],
  options: RunOptions,
): Promise<void> {
  const { log, signal, env, cwd, onLine } = options;
  signal.throwIfAborted();
  const file = createWriteStream(log, { flags: 'a', mode: 0o600 });
  file.write(`$ ${[program, ...args].join(' ')}\n`);
  const isPosix = process.platform !== 'win32';
  const child = spawn(program, args, {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: isPosix,
    windowsHide: true,
  });
  const stop = (): void => {
    if (child.pid !== undefined) signalTree(child.pid, 'SIGTERM');
  };
  signal.addEventListener('abort', stop, { once: true });
  const last: string[] = [];
  const take = (line: string): void => {
    file.write(`${line}\n`);
    last.push(line.slice(0, MOST_LINE));
    if (last.length > LAST_LINES) last.shift();
    onLine?.(line);
  };
  for (const stream of [child.stdout, child.stderr]) createInterface({ input: stream }).on('line', take);
  try {
    const [code, ended] = (await once(child, 'close')) as [number | null, string | null];
    signal.throwIfAborted();
    if (code !== 0) throw new Error([...last, `${program} ended with ${ended ?? code}`].join('\n'));
  } finally {
    signal.removeEventListener('abort', stop);
    file.end();
  }
}
