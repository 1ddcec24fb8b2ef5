/**
 * cli/service owns the start of Hearth with the machine: definitions for systemd, launchd and the Windows Task
 * Scheduler, and the programs that install them. It knows nothing of verbs and settings.
 */
import path from 'node:path';

/** Paths are absolute. */
export interface ServiceFacts {
  readonly node: string;
  readonly script: string;
  readonly home: string | null;
  readonly dev: boolean;
  readonly userHome: string;
  /** Seconds before a stop is enforced. */
  readonly stopSeconds: number;
  /** Groups of this machine that may use GPUs; null: the service needs none. */
  readonly gpuGroups: readonly string[] | null;
}

export const SERVICE_KINDS = ['systemd-user', 'systemd-system', 'launchd', 'windows'] as const;
export type ServiceKind = (typeof SERVICE_KINDS)[number];

export const serviceName = (dev: boolean): string => (dev ? 'hearth-dev' : 'hearth');

export function serveArguments({ script, dev }: ServiceFacts): string[] {
  return [script, ...(dev ? ['--dev'] : []), 'serve'];
}

/** The waiting program exits with 0 once the service answers, and with 3 after this time. */
export const READY_SECONDS = 90;

export function waitArguments({ script, dev }: ServiceFacts): string[] {
  return [script, ...(dev ? ['--dev'] : []), 'service', 'wait', '--timeout', `${READY_SECONDS}s`];
}

/** Null, or why no definition can contain this path. */
export function unwritable(file: string): string | null {
  // oxlint-disable-next-line no-control-regex -- a line break would begin another line of the definition
  if (/[\u0000-\u001f\u007f]/.test(file)) return `${JSON.stringify(file)} holds a control character`;
  return path.isAbsolute(file) || path.win32.isAbsolute(file) ? null : `${file} is not an absolute path`;
}
