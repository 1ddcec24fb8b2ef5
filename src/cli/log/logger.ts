/** The logger of a service: one line per event, on stderr and, where files are asked for, in these too. */
import { isatty } from 'node:tty';
import { pino } from 'pino';
import { LineWriter } from './line-writer.ts';
import { fileTarget, makeLogFolder } from './log-files.ts';
import { readableLine } from './readable.ts';
import { STDERR, stderrTarget } from './stderr.ts';

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
