import { access, constants, stat } from 'node:fs/promises';
import path from 'node:path';

/**
 * `from`: start of relative PATH entries. Without a PATH, the system has its own search path and may find the
 * program.
 */
export async function isOnPath(
  program: string,
  searched: string | undefined,
  from = process.cwd(),
): Promise<boolean> {
  return searched === undefined || (await findOnPath(program, searched, from)) !== null;
}

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
