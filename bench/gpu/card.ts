/** The GPU as its driver's tool sees it, and a process that takes its memory away. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** What a program prints; what went wrong where it cannot run. */
export async function printed(command: string, ...args: readonly string[]): Promise<string> {
  try {
    const { stdout, stderr } = await run(command, args, { timeout: 20_000 });
    return `${stdout}${stderr}`.trim();
  } catch (error) {
    return `${command}: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** MiB in use on all NVIDIA cards together, by all processes; null without such a card. */
export async function usedMiB(): Promise<number | null> {
  const text = await printed('nvidia-smi', '--query-gpu=memory.used', '--format=csv,noheader,nounits');
  const cards = text.split('\n').map(Number);
  return cards.length > 0 && cards.every(Number.isFinite) && text !== ''
    ? cards.reduce((sum, each) => sum + each, 0)
    : null;
}

export interface Occupied {
  readonly freeMiB: number;
  release(): Promise<void>;
}

/** Leaves so much of the first card's memory free until it is released; null where there is no CUDA driver. */
export async function occupy(leaveMiB: number): Promise<Occupied | null> {
  const here = path.dirname(fileURLToPath(import.meta.url));
  const script = path.join(here, 'occupy.js');
  if (!existsSync(script)) throw new Error(`${script} is missing`);
  const child = spawn(process.execPath, [script, String(leaveMiB)], { stdio: ['ignore', 'pipe', 'inherit'] });
  const line = await firstLine(child);
  const { freeMiB } = JSON.parse(line ?? '{}') as { readonly freeMiB?: number };
  if (freeMiB === undefined) return null;
  return {
    freeMiB,
    release: async () => {
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    },
  };
}

async function firstLine(child: ChildProcess): Promise<string | null> {
  if (child.stdout === null) return null;
  for await (const line of createInterface({ input: child.stdout })) return line;
  return null;
}
