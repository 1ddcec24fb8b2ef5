/**
 * server/engine/local/child owns the fork itself: the child's script, environment, process group, threads, standard error
 * and place in the OOM killer's queue. It knows nothing of the IPC or of models.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import type { Logger } from '../../../../lib/base/logger.ts';
import { builtFile } from '../../../../lib/base/package-folder.ts';
import { childEnvironment } from './child-environment.ts';
import { StderrTail } from './stderr-tail.ts';

export const WORKER_SCRIPT = builtFile('worker/main.js');

/** Build output of worker/sealed.ts, which seals the process and then loads the worker. */
export const SEALED_SCRIPT = builtFile('worker/sealed.js');

export interface WorkerSealing {
  readonly network: string;
  readonly readable: readonly string[];
  readonly writable: readonly string[];
  /** A file that the worker must fail to read, which tests the seal. */
  readonly forbidden: string;
}

interface Launch {
  readonly childPath: string;
  readonly hostEnv: Readonly<Record<string, string | undefined>>;
  readonly gpu: string;
  readonly libraries?: string | undefined;
  readonly launcher: readonly string[];
  readonly stderrChars: number;
  readonly sealing?: WorkerSealing | undefined;
  readonly log: Logger;
}

export interface Launched {
  readonly child: ChildProcess;
  readonly stderr: StderrTail;
}

/** On Windows, a service without a console would open one for each child. Node's type of `fork` omits this option. */
const HIDDEN = { windowsHide: true };

export function launch(options: Launch): Launched {
  const command = [...options.launcher, process.execPath];
  const child = fork(options.childPath, [], {
    execPath: command[0],
    execArgv: command.slice(1),
    serialization: 'advanced',
    // The child compares this with its real parent, in case the server died before the kernel started to watch.
    env: {
      ...childEnvironment(options.hostEnv, options, process.platform),
      SVC_PARENT_PID: String(process.pid),
      ...sealVariables(options.sealing),
    },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    // A separate process group: Ctrl-C in the terminal reaches the server only, which then drains.
    detached: process.platform !== 'win32',
    ...HIDDEN,
  });
  const stderr = new StderrTail(options.stderrChars);
  child.stderr?.setEncoding('utf8');
  child.stderr?.on('data', (chunk: string) => stderr.append(chunk));
  if (process.platform === 'linux' && child.pid !== undefined) preferForOomKill(child.pid, options.log);
  return { child, stderr };
}

function sealVariables(sealing: WorkerSealing | undefined): Record<string, string> {
  if (sealing === undefined) return {};
  const { network, readable, writable, forbidden } = sealing;
  return {
    SVC_SEALED: network,
    SVC_READABLE: JSON.stringify(readable),
    SVC_WRITABLE: JSON.stringify(writable),
    SVC_FORBIDDEN: forbidden,
  };
}

/** When memory runs out, the kernel should kill a worker, never the server. */
function preferForOomKill(pid: number, log: Logger): void {
  writeFile(`/proc/${pid}/oom_score_adj`, '500').catch((error: unknown) => {
    log.debug({ pid, error }, 'The worker could not be put first in line for the OOM killer.');
  });
}
