/** The logger of a service: one line per event, on stderr and optionally in files. */
import { write as writeBytes, writeSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { isatty } from 'node:tty';
import { pino } from 'pino';
import { LineWriter, type LineTarget } from './line-writer.ts';
import { fileTarget, makeLogFolder } from './log-files.ts';
import { readableLine } from './readable.ts';

const STDERR = 2;
/** A pipe that is full takes more when its reader has read. */
const FULL_PIPE_PAUSE_MS = 20;

/** Whatever reads standard error may be slow, or gone. */
const stderrTarget: LineTarget = {
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
  /** Resolves when every line is written. */
  flushed(): Promise<void>;
}

/**
 * On a terminal stderr is written for people, elsewhere as JSON, and so are files. Secrets are removed, and nothing in
 * Hearth passes prompt or answer text to a logger. `home`: where the files go; null: there are none.
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
  // However the process ends, what was logged last says why.
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
