/**
 * Context of a verb. stdout carries data only; progress, logs and errors go to stderr. Exit codes: 0 ok, 1 failure, 2
 * usage or refused configuration, 3 server unreachable, 4 not found.
 */
import type { Command } from 'commander';
import {
  type Config,
  type ConfigSources,
  type ExaminedConfig,
  examineConfig,
  loadConfig,
} from '../config/config.ts';
import type { SettingName } from '../config/settings.ts';

export const EXIT_CODES = {
  ok: 0,
  failure: 1,
  usage: 2,
  unreachable: 3,
  notFound: 4,
  interrupted: 130,
} as const;
export type ExitCode = (typeof EXIT_CODES)[keyof typeof EXIT_CODES];

export class CliFailure extends Error {
  readonly exitCode: ExitCode;

  constructor(message: string, exitCode: ExitCode = EXIT_CODES.failure, cause?: unknown) {
    super(message, { cause });
    this.exitCode = exitCode;
  }
}

export interface CliContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Includes flags of the program itself (--home, --dev). */
  config(flags?: Partial<Record<SettingName, string>>): Config;
  /** Like `config`, but returns the problems instead of throwing. */
  examineConfig(): ExaminedConfig;
  print(text: string): void;
  write(text: string): void;
  printJson(value: unknown): void;
  note(text: string): void;
  setExitCode(code: number): void;
}

export interface GlobalFlags {
  readonly home?: string;
  readonly dev?: boolean;
}

export function createContext(globals: () => GlobalFlags, env: NodeJS.ProcessEnv): CliContext {
  const sources = (flags: ConfigSources['flags'] = {}): ConfigSources => {
    const { home, dev } = globals();
    return { flags: { ...(home === undefined ? {} : { home }), ...flags }, env, dev: dev === true };
  };
  return {
    env,
    config: (flags) => loadConfig(sources(flags)),
    examineConfig: () => examineConfig(sources()),
    print: (text) => void process.stdout.write(`${text}\n`),
    write: (text) => void process.stdout.write(text),
    printJson: (value) => void process.stdout.write(`${JSON.stringify(value, null, 2)}\n`),
    note: (text) => void process.stderr.write(`${text}\n`),
    setExitCode: (code) => {
      process.exitCode = code;
    },
  };
}

/** Keeps line breaks and tabs. */
export function printableText(text: string): string {
  return text
    .split(/([\n\t])/)
    .map((part) => (part === '\n' || part === '\t' ? part : printable(part)))
    .join('');
}

/** Names from outside may contain escape sequences, which a terminal must never get. */
export function printable(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are exactly what is removed here
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '\ufffd');
}

export function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => printable(row[column] ?? '').length)),
  );
  return rows
    .map((row) =>
      row
        .map((cell, column) => printable(cell).padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** If the parent has the option too, commander gives it to the parent. */
export function saysJson(command: Command): boolean {
  return command.optsWithGlobals<{ json?: boolean }>().json === true;
}
