/** Runs the compiled CLI in a process of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const dist = process.env['HEARTH_TEST_DIST'] ?? fileURLToPath(new URL('../../dist', import.meta.url));

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export function startHearth(args: readonly string[], env: Record<string, string>): ChildProcess {
  const start = `import(${JSON.stringify(`${dist}/cli/main.js`)}).then(({ main }) => main(${JSON.stringify(args)}))`;
  return spawn(process.execPath, ['--input-type=module', '-e', start], {
    env: { PATH: process.env['PATH'], SVC_GPU: 'off', SVC_NUM_THREADS: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

export async function hearth(args: readonly string[], env: Record<string, string>): Promise<Outcome> {
  const child = startHearth(args, env);
  const out: Buffer[] = [];
  const complaints: Buffer[] = [];
  child.stdout?.on('data', (part: Buffer) => out.push(part));
  child.stderr?.on('data', (part: Buffer) => complaints.push(part));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(complaints).toString() };
}
