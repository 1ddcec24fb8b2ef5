import { errorMessage } from '../../lib/errors/svc-error.ts';
import { closeSync, constants, fchmodSync, fstatSync, openSync, readFileSync, writeSync } from 'node:fs';
import path from 'node:path';
import { makeFolder, writeDurably } from '../../lib/files/durable.ts';

/** Lines at the start of a session; the file is cut to them once it has twice as many. */
const MOST_LINES = 1000;
const MOST_BYTES = 4 * 1024 * 1024;
const MODE = 0o600;

export interface LineHistory {
  readonly recent: readonly string[];
  readonly size: number;
  add(line: string): void;
  close(): void;
}

export const sessionHistory: LineHistory = {
  recent: [],
  size: MOST_LINES,
  add: () => undefined,
  close: () => undefined,
};

export async function openHistory(home: string, note: (text: string) => void): Promise<LineHistory> {
  const file = path.join(home, 'run-history');
  try {
    await makeFolder(home);
    const lines = readLines(file);
    if (lines.length > 2 * MOST_LINES) await writeDurably(file, `${lines.slice(-MOST_LINES).join('\n')}\n`);
    return appendTo(file, lines.slice(-MOST_LINES).reverse());
  } catch (error) {
    note(`Lines are not remembered: ${errorMessage(error)}`);
    return sessionHistory;
  }
}

function appendTo(file: string, recent: readonly string[]): LineHistory {
  const { O_APPEND, O_CREAT, O_WRONLY } = constants;
  const descriptor = openPlain(file, O_APPEND | O_CREAT | O_WRONLY);
  let last = recent[0];
  return {
    recent,
    size: MOST_LINES,
    add: (line) => {
      // A line that begins with a space is private, as in shells.
      if (line.trim() === '' || line.startsWith(' ') || line === last) return;
      last = line;
      writeSync(descriptor, `${line}\n`);
    },
    close: () => closeSync(descriptor),
  };
}

function readLines(file: string): string[] {
  const descriptor = openPlain(file, constants.O_CREAT | constants.O_RDWR);
  try {
    if (fstatSync(descriptor).size > MOST_BYTES)
      throw new Error(`${file} is larger than ${MOST_BYTES} bytes; remove it`);
    return readFileSync(descriptor, 'utf8')
      .split('\n')
      .filter((line) => line !== '');
  } finally {
    closeSync(descriptor);
  }
}

/** Refuses links and pipes, and makes the file readable by its owner only. */
function openPlain(file: string, flags: number): number {
  const descriptor = openSync(file, flags | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0), MODE);
  if (!fstatSync(descriptor).isFile()) {
    closeSync(descriptor);
    throw new Error(`${file} is not a plain file`);
  }
  if (process.platform !== 'win32') fchmodSync(descriptor, MODE);
  return descriptor;
}
