/**
 * Isolates the memory of a sealed server from its user's other processes, which could send data for it. A Landlock
 * domain covers only threads that begin after it, and Node already runs several: this process executes the same
 * program again.
 */
import path from 'node:path';
import { packageFolder } from '../lib/base/package-folder.ts';
import { openKernel } from '../lib/seal/kernel.ts';
import { enterDomain } from '../lib/seal/landlock.ts';

/** Contains the id of the process, which exec keeps; ignored if another process inherits it. */
const MARK = 'SVC_SEALED_APART';

let isApart = false;

/** Returns in the new program, or if the kernel has no such domains. */
export async function standApart(): Promise<void> {
  isApart ||= process.env[MARK] === String(process.pid);
  delete process.env[MARK];
  if (isApart) return;
  const kernel = await openKernel();
  if (kernel === null || !enterDomain(kernel)) return;
  const env = { ...process.env, [MARK]: String(process.pid) };
  kernel.becomeProgram({
    path: process.execPath,
    args: [
      process.execPath,
      ...process.execArgv,
      path.join(packageFolder, 'bin', 'hearth.js'),
      ...process.argv.slice(2),
    ],
    env: Object.fromEntries(
      Object.entries(env).filter((pair): pair is [string, string] => pair[1] !== undefined),
    ),
    descriptors: [0, 1, 2],
  });
}
