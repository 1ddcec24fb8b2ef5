import { appendFileSync, mkdirSync } from 'node:fs';
import { appendFile } from 'node:fs/promises';
import path from 'node:path';
import type { LineTarget } from './line-writer.ts';
import { fileSize, ifMissing, PRIVATE_FILE } from '../../lib/files/durable.ts';
import { rename } from '../../lib/files/busy.ts';

const FILE_BYTES = 10 * 1024 * 1024;
const KEPT_FILES = 4;
const PRIVATE_FOLDER = 0o700;

export const logFolder = (home: string): string => path.join(home, 'logs');

export function logFiles(home: string): readonly [current: string, ...older: string[]] {
  const older = Array.from({ length: KEPT_FILES }, (_, at) => `hearth.${at + 1}.log`);
  return [path.join(logFolder(home), 'hearth.log'), ...older.map((name) => path.join(logFolder(home), name))];
}

/** Calls `onProblem` once if files cannot be written; the service continues without them. */
export function fileTarget(
  home: string,
  { onProblem, fileBytes = FILE_BYTES }: { onProblem(error: unknown): void; readonly fileBytes?: number },
): LineTarget {
  const files = logFiles(home);
  const [current] = files;
  let bytes: number | null = null;
  let hasProblem = false;
  const failed = (error: unknown): void => {
    if (!hasProblem) onProblem(error);
    hasProblem = true;
  };
  return {
    append: async (text) => {
      try {
        const more = Buffer.byteLength(text);
        bytes ??= (await fileSize(current)) ?? 0;
        if (bytes > 0 && bytes + more > fileBytes) {
          await rotate(files);
          bytes = 0;
        }
        await appendFile(current, text, { mode: PRIVATE_FILE });
        bytes += more;
      } catch (error) {
        failed(error);
      }
    },
    appendNow: (text) => {
      try {
        if (text !== '') appendFileSync(current, text, { mode: PRIVATE_FILE });
      } catch (error) {
        failed(error);
      }
    },
  };
}

export function makeLogFolder(home: string): void {
  mkdirSync(logFolder(home), { recursive: true, mode: PRIVATE_FOLDER });
}

async function rotate(files: readonly string[]): Promise<void> {
  for (const [at, file] of [...files.entries()].reverse()) {
    const next = files[at + 1];
    if (next !== undefined) await rename(file, next).catch(ifMissing(undefined));
  }
}
