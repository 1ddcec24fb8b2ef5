/** Runs something as a user without rights, where the tests run as root, whom permissions do not bind. */
import { closeSync, openSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { onTestFinished, type TestContext } from 'vitest';

export const NOBODY = 65_534;

const isRoot = (): boolean => process.geteuid?.() === 0;

export async function asOrdinaryUser<T>(work: () => Promise<T>): Promise<T> {
  if (!isRoot()) return work();
  process.seteuid?.(NOBODY);
  try {
    return await work();
  } finally {
    process.seteuid?.(0);
  }
}

/** Skips the test where the user of `asOrdinaryUser` cannot read a file that the test needs. */
export function needsReadable(context: TestContext, ...paths: readonly string[]): void {
  if (!isRoot()) return;
  const hidden = paths.find((path) => !canOtherUserRead(path));
  if (hidden !== undefined)
    context.skip(`other users cannot read ${hidden}; run the tests as an ordinary user, or elsewhere`);
}

function canOtherUserRead(path: string): boolean {
  process.seteuid?.(NOBODY);
  try {
    closeSync(openSync(path, 'r'));
    return true;
  } catch {
    // Whatever the reason, a test of that user cannot run.
    return false;
  } finally {
    process.seteuid?.(0);
  }
}

/** Takes rights from everybody but root, its owner included, until the test has ended. */
export async function restrict(path: string, mode: number): Promise<void> {
  await chmod(path, mode);
  // What a folder holds is removed afterwards, for which its owner needs the right to write.
  onTestFinished(() => chmod(path, 0o700));
}
