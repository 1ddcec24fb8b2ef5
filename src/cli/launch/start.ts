import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import path from 'node:path';
import { makeFolder, writeDurably } from '../../lib/files/durable.ts';
import type { Launch } from './render.ts';

const PASSED: readonly NodeJS.Signals[] = ['SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGHUP'];
const FROM_KEYBOARD: readonly NodeJS.Signals[] = ['SIGINT', 'SIGQUIT'];

/** Only this user can read them. */
export async function writeFiles(files: Launch['files']): Promise<void> {
  for (const [file, text] of Object.entries(files)) {
    await makeFolder(path.dirname(file));
    await writeDurably(file, text);
  }
}

/** 128 plus the signal's number after a signal; null if there is no such program. */
export async function runProgram(
  { program, args, env, files }: Launch,
  inherited: Readonly<Record<string, string | undefined>>,
): Promise<number | null> {
  await writeFiles(files);
  const child = spawn(program, args, { stdio: 'inherit', env: { ...inherited, ...env } });
  const listeners = PASSED.map((name) => {
    // The terminal sends typed signals to both programs; forwarding one would repeat it.
    const isShared = process.stdin.isTTY && FROM_KEYBOARD.includes(name);
    const pass = (): void => void (isShared || child.kill(name));
    process.on(name, pass);
    return { name, pass };
  });
  try {
    const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
    return code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  } finally {
    for (const { name, pass } of listeners) process.off(name, pass);
  }
}
