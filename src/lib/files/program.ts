/** Whether there is a program to start. */
import { access, constants, stat } from 'node:fs/promises';
import path from 'node:path';

/** Whether a folder of PATH, seen from `from`, holds it. Without a PATH the system looks in places of its own, and may find it. */
export async function isOnPath(
  program: string,
  searched: string | undefined,
  from = process.cwd(),
): Promise<boolean> {
  return searched === undefined || (await findOnPath(program, searched, from)) !== null;
}

/** The first in the order of PATH; null when no folder holds it. */
export async function findOnPath(
  program: string,
  searched: string,
  from = process.cwd(),
): Promise<string | null> {
  const folders = searched.split(path.delimiter);
  const endings = process.platform === 'win32' ? ['.exe', '.com'] : [''];
  const candidates = folders.flatMap((folder) =>
    endings.map((ending) => path.resolve(from, folder, program + ending)),
  );
  const found = await Promise.all(candidates.map(isProgram));
  return candidates[found.indexOf(true)] ?? null;
}

export async function isProgram(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}
