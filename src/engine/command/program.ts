/** Whether there is a program to start, so that a typing error is told as one and not as the launcher's failure. */
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { delimiter, resolve } from 'node:path';

/** By its path, from the folder that it starts in, or by its name in `PATH`. */
export async function isProgram(word: string, cwd: string | null, searchPath: string): Promise<boolean> {
  // Windows adds endings to names; there the start itself tells.
  if (process.platform === 'win32') return true;
  const from = cwd ?? process.cwd();
  const files = word.includes('/')
    ? [resolve(from, word)]
    : searchPath.split(delimiter).map((folder) => resolve(from, folder, word));
  for (const file of files) {
    const mayRun = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (mayRun) return true;
  }
  return false;
}
