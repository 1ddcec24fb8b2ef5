import { spawn } from 'node:child_process';
import { once } from 'node:events';

export interface ProgramResult {
  /** Null if there is no such program. */
  readonly code: number | null;
  readonly stdout: string;
  readonly output: string;
}

/** Runs without input. */
export async function runProgram(command: readonly string[]): Promise<ProgramResult> {
  const [name = '', ...args] = command;
  const child = spawn(name, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const [answer, all]: [Buffer[], Buffer[]] = [[], []];
  child.stdout.on('data', (part: Buffer) => answer.push(part) && all.push(part));
  child.stderr.on('data', (part: Buffer) => all.push(part));
  const code = await ended(child);
  const text = (parts: readonly Buffer[]): string => Buffer.concat(parts).toString().trim();
  return { code, stdout: text(answer), output: text(all) };
}

export interface Watched {
  readonly signal: AbortSignal;
  readonly onOutput: (line: string) => void;
}

export async function runWithInput(
  command: readonly string[],
  input: string,
  { signal, onOutput }: Watched,
): Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }> {
  const [name = '', ...args] = command;
  const child = spawn(name, args, { stdio: 'pipe', signal });
  const [answer, said]: [Buffer[], string[]] = [[], []];
  child.stdout.on('data', (part: Buffer) => answer.push(part));
  child.stderr.setEncoding('utf8').on('data', (part: string) => {
    said.push(part);
    for (const line of part.split('\n').filter(Boolean)) onOutput(line);
  });
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const code = await ended(child);
  return { code, stdout: Buffer.concat(answer).toString(), stderr: said.join('') };
}

export async function showProgram(command: readonly string[]): Promise<number | null> {
  const [name = '', ...args] = command;
  return ended(spawn(name, args, { stdio: 'inherit' }));
}

async function ended(child: ReturnType<typeof spawn>): Promise<number | null> {
  try {
    const [code] = (await once(child, 'close')) as [number | null];
    return code ?? 1;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
