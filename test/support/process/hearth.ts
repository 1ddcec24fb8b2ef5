/** The compiled CLI in processes of its own: a verb that runs to its end, or a server that is waited for. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** The build under test. */
export const builtDist =
  process.env['HEARTH_TEST_DIST'] ?? fileURLToPath(new URL('../../../dist', import.meta.url));

/** The same before it was bundled: a file for each source. */
export const builtSources = fileURLToPath(new URL('../../../generated/sources/src', import.meta.url));

export type Settings = Readonly<Record<string, string>>;

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** What runs and where; the build under test in the folder of the tests, unless told otherwise. */
export interface Program {
  readonly dist?: string;
  /** A bin/hearth.js, for a copy that is complete. */
  readonly bin?: string;
  readonly cwd?: string;
  /** The user it runs as, where the tests run as root. */
  readonly uid?: number;
}

export function startHearth(args: readonly string[], env: Settings, program: Program = {}): ChildProcess {
  return spawn(process.execPath, [...entry(args, program)], {
    cwd: program.cwd,
    ...(program.uid === undefined ? {} : { uid: program.uid }),
    env: { PATH: process.env['PATH'], SVC_GPU: 'off', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** What Node runs for a verb. */
export function entry(args: readonly string[], { bin, dist = builtDist }: Program = {}): readonly string[] {
  if (bin !== undefined) return [bin, ...args];
  const main = JSON.stringify(path.join(dist, 'cli', 'main.js'));
  const start = `import(${main}).then(({ main }) => main(${JSON.stringify(args)}))`;
  return ['--input-type=module', '-e', start];
}

/** Runs a verb to its end. */
export async function hearth(args: readonly string[], env: Settings, program?: Program): Promise<Outcome> {
  return finish(startHearth(args, env, program));
}

export async function finish(child: ChildProcess): Promise<Outcome> {
  const output = collect(child);
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stdout: output.stdout(), stderr: output.stderr() };
}

export interface Output {
  stdout(): string;
  stderr(): string;
}

/** Everything that a process has said so far. */
export function collect(child: ChildProcess): Output {
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout?.on('data', (part: Buffer) => stdout.push(part));
  child.stderr?.on('data', (part: Buffer) => stderr.push(part));
  return {
    stdout: () => Buffer.concat(stdout).toString(),
    stderr: () => Buffer.concat(stderr).toString(),
  };
}

/** The URL of the ready line of `hearth serve`; an error when the process ends without one. */
export function readyUrl(child: ChildProcess, output = collect(child)): Promise<string> {
  return new Promise((resolve, reject) => {
    child.stdout?.on('data', () => {
      const url = /ready at (https?:\S+)/.exec(output.stdout())?.[1];
      if (url !== undefined) resolve(url);
    });
    child.once('close', (code) => reject(new Error(`serve ended (${code}): ${output.stderr()}`)));
  });
}

/** Asks a process to end, and waits until it has. */
export async function endProcess(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill(signal);
  await ended;
}
