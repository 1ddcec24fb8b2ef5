/**
 * cli/service owns what makes Hearth start with the machine: definitions for systemd, launchd and the Windows Task
 * Scheduler, and the programs that take them. It knows nothing of verbs and settings.
 */
import path from 'node:path';

/** Facts for a definition. Paths are absolute. */
export interface ServiceFacts {
  readonly node: string;
  /** bin/hearth.js. */
  readonly script: string;
  /** Null: where the account keeps its data by default. */
  readonly home: string | null;
  readonly dev: boolean;
  readonly userHome: string;
  /** Time for a stop before it is enforced, seconds. */
  readonly stopSeconds: number;
  /** Groups of this machine that may use GPUs; empty: the service needs none. */
  readonly gpuGroups: readonly string[] | null;
}

export const SERVICE_KINDS = ['systemd-user', 'systemd-system', 'launchd', 'windows'] as const;
export type ServiceKind = (typeof SERVICE_KINDS)[number];

export const serviceName = (dev: boolean): string => (dev ? 'hearth-dev' : 'hearth');

/** The arguments of the service after Node's own path. */
export function serveArguments({ script, dev }: ServiceFacts): string[] {
  return [script, ...(dev ? ['--dev'] : []), 'serve'];
}

/** Ends with 0 as soon as the service answers, and with 3 when it does not in this time. */
export const READY_SECONDS = 90;

export function waitArguments({ script, dev }: ServiceFacts): string[] {
  return [script, ...(dev ? ['--dev'] : []), 'service', 'wait', '--timeout', `${READY_SECONDS}s`];
}

/** Null, or why no definition can carry this path. */
export function unwritable(file: string): string | null {
  // oxlint-disable-next-line no-control-regex -- a line break would begin another line of the definition
  if (/[\u0000-\u001f\u007f]/.test(file)) return `${JSON.stringify(file)} holds a control character`;
  return path.isAbsolute(file) || path.win32.isAbsolute(file) ? null : `${file} is not an absolute path`;
}
