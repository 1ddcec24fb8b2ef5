/**
 * Keeps a sealed server out of the memory of its user's other processes, which could send for it. Such a domain holds for
 * threads that begin after it, and Node has some running by now: this process becomes the same program once more.
 */
import path from 'node:path';
import { packageFolder } from '../lib/base/package-folder.ts';
import { openKernel } from '../lib/seal/kernel.ts';
import { enterDomain } from '../lib/seal/landlock.ts';

/** Holds the id of the process, which stays the same; inherited by another, it means nothing. */
const MARK = 'SVC_SEALED_APART';

let isApart = false;

/** Returns in the new program, or where the kernel has no such domains. */
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
