/** Standard error as a target of lines; what reads it may be slow, or gone. */
import { write, writeSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { LineTarget } from './line-writer.ts';

export const STDERR = 2;
/** A pipe that is full takes more when its reader has read. */
const FULL_PIPE_PAUSE_MS = 20;

export const stderrTarget: LineTarget = {
  append: async (text) => {
    let rest = Buffer.from(text);
    while (rest.length > 0) {
      const { written, code } = await writeSome(rest);
      rest = rest.subarray(written);
      if (code === 'EAGAIN') await pause(FULL_PIPE_PAUSE_MS);
      // A reader that has gone is no reason to end.
      else if (code !== null) return;
    }
  },
  appendNow: (text) => {
    try {
      if (text !== '') writeSync(STDERR, text);
    } catch {
      // The process ends; there is nobody left to tell.
    }
  },
};

function writeSome(bytes: Buffer): Promise<{ readonly written: number; readonly code: string | null }> {
  return new Promise((resolve) => {
    write(STDERR, bytes, (error, written) => {
      resolve({ written: error === null ? written : 0, code: error === null ? null : (error.code ?? '') });
    });
  });
}
