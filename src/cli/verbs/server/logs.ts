import type { Command } from 'commander';
import { type CliContext, CliFailure, EXIT_CODES } from '../../context.ts';
import { lastLines, newLines } from '../../log/read-logs.ts';
import { readableLine } from '../../log/readable.ts';

interface LogsFlags {
  readonly follow?: boolean;
  readonly request?: string;
  readonly lines: string;
  readonly json?: boolean;
}

export function registerLogs(program: Command, context: CliContext): void {
  program
    .command('logs')
    .description('show the log files of the service')
    .option('-f, --follow', 'keep printing new lines until Ctrl-C')
    .option('--request <id>', 'only the lines of the request with this id')
    .option('-n, --lines <count>', 'how many lines, counted from the last', '100')
    .option('--json', 'JSON lines, on a terminal as well')
    .action((flags: LogsFlags) => showLogs(context, flags));
}

async function showLogs(context: CliContext, flags: LogsFlags): Promise<void> {
  const { home } = context.config();
  const isWanted = wantedBy(flags.request);
  const lines = await lastLines(home, isWanted, readCount(flags.lines));
  if (lines === null) {
    throw new CliFailure(
      'there are no log files: no service has run with this home folder, or SVC_LOG_FILES is 0',
      EXIT_CODES.notFound,
    );
  }
  const isPlain = flags.json === true || !process.stdout.isTTY;
  const show = (line: string): void => context.write(isPlain ? `${line}\n` : readableLine(line));
  for (const line of lines) show(line);
  if (flags.follow !== true) return;
  const leaving = new AbortController();
  process.once('SIGINT', () => leaving.abort());
  for await (const line of newLines(home, leaving.signal)) if (isWanted(line)) show(line);
}

function wantedBy(requestId: string | undefined): (line: string) => boolean {
  return (line) => {
    try {
      const facts = JSON.parse(line) as { readonly requestId?: unknown };
      return requestId === undefined || facts.requestId === requestId;
    } catch {
      return false;
    }
  };
}

function readCount(text: string): number {
  if (/^\d{1,7}$/.test(text)) return Number(text);
  throw new CliFailure('--lines must be a whole number', EXIT_CODES.usage);
}
