import { writeSync } from 'node:fs';
import { isatty } from 'node:tty';
import { pino } from 'pino';
import { printable, printableText } from './context.ts';

const STDERR = 2;

/**
 * One line per event on stderr: for people on a terminal, as JSON elsewhere. Secrets are removed, and nothing in Hearth
 * passes prompt or answer text to a logger.
 */
export function createLogger(level: string) {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: ['headers.authorization', 'headers["x-api-key"]', 'apiKey', 'token'], remove: true },
    },
    isatty(STDERR) ? { write: (line) => writeLine(readableLine(line)) } : { write: writeLine },
  );
}

/** The clock, the level unless it is the usual one, the event, and what belongs to it as name=value. */
export function readableLine(json: string): string {
  const { level, time, msg = '', err, ...rest } = JSON.parse(json) as Record<string, unknown>;
  const stack = (err as { stack?: string } | undefined)?.stack;
  const facts = Object.entries(rest).map(([name, value]) => `${name}=${shown(value)}`);
  const head = [String(time).slice(11, 19), ...(level === 'info' ? [] : [String(level)]), String(msg)];
  return `${printable([...head, ...facts].join(' '))}\n${stack === undefined ? '' : `${printableText(stack)}\n`}`;
}

function shown(value: unknown): string {
  return typeof value === 'string' && !/[\s="]/.test(value) ? value : JSON.stringify(value);
}

/** At once, so that no line is lost however the process ends; a reader that has gone is no reason to end. */
function writeLine(line: string): void {
  try {
    writeSync(STDERR, line);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (!['EPIPE', 'EIO', 'EAGAIN'].includes(code)) throw error;
  }
}
