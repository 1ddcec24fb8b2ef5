/** A process with everything it started, as one thing to end. */
import { spawn } from 'node:child_process';

/**
 * `pid` leads a group of its own (`detached`), except on Windows, which has no groups and no signal that a program could
 * heed: there the tree ends at once.
 */
export function signalTree(pid: number, signal: NodeJS.Signals): void {
  if (process.platform === 'win32') {
    spawn('taskkill', ['/pid', String(pid), '/t', '/f'], { stdio: 'ignore', windowsHide: true });
    return;
  }
  try {
    process.kill(-pid, signal);
  } catch (error) {
    // Nobody of the group is left.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
