import { write as writeBytes, writeSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { isatty } from 'node:tty';
import { pino } from 'pino';
import { LineWriter, type LineTarget } from './line-writer.ts';
import { fileTarget, makeLogFolder } from './log-files.ts';
import { readableLine } from './readable.ts';

const STDERR = 2;
/** A full pipe accepts more once its reader has read. */
const FULL_PIPE_PAUSE_MS = 20;

const stderrTarget: LineTarget = {
  append: async (text) => {
    let rest = Buffer.from(text);
    while (rest.length > 0) {
      const { written, code } = await writeSome(rest);
      rest = rest.subarray(written);
      if (code === 'EAGAIN') await pause(FULL_PIPE_PAUSE_MS);
      // A missing reader must not end the service.
      else if (code !== null) return;
    }
  },
  appendNow: (text) => {
    try {
      if (text !== '') writeSync(STDERR, text);
    } catch {
      // The process ends, so nothing can report it.
    }
  },
};

function writeSome(bytes: Buffer): Promise<{ readonly written: number; readonly code: string | null }> {
  return new Promise((resolve) => {
    writeBytes(STDERR, bytes, (error, written) => {
      resolve({ written: error === null ? written : 0, code: error === null ? null : (error.code ?? '') });
    });
  });
}

export interface Log {
  readonly logger: ReturnType<typeof newLogger>;
  flushed(): Promise<void>;
}

/**
 * People's format on a terminal, otherwise JSON, as in files. Secrets are removed, and nothing in Hearth passes
 * prompt or answer text to a logger. `home` null: no files.
 */
export function openLog({ level, home }: { readonly level: string; readonly home: string | null }): Log {
  const stderr = new LineWriter(stderrTarget);
  const onStderr = isatty(STDERR) ? (line: string) => stderr.write(readableLine(line)) : write(stderr);
  const writers = [stderr];
  const outlets = [onStderr];
  const logger = newLogger(level, (line) => {
    for (const outlet of outlets) outlet(line);
  });
  if (home !== null) {
    makeLogFolder(home);
    const files = new LineWriter(
      fileTarget(home, { onProblem: (error) => logger.error({ error }, 'The log files cannot be written.') }),
    );
    writers.push(files);
    outlets.push(write(files));
  }
  // However the process ends, the last lines explain why.
  process.on('exit', () => {
    for (const writer of writers) writer.flushNow();
  });
  return {
    logger,
    flushed: async () => {
      await Promise.all(writers.map((writer) => writer.flushed()));
    },
  };
}

const write =
  (writer: LineWriter) =>
  (line: string): void =>
    writer.write(line);

function newLogger(level: string, onLine: (line: string) => void) {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: ['headers.authorization', 'headers["x-api-key"]', 'apiKey', 'token'], remove: true },
    },
    { write: onLine },
  );
}
