/** Users who could replace the bytes at a path. Judged by owners and modes, where a system has them. */
import type { Stats } from 'node:fs';
import { lstat, realpath } from 'node:fs/promises';
import { dirname } from 'node:path';

const OTHERS_WRITE = 0o022;
const GROUP_WRITES = 0o020;
const OTHERS_SEARCH = 0o011;
const STICKY = 0o1000;

/**
 * Null when only this user and root can write to the file or put another one in its place, else the path that somebody
 * else can change. Rights that a file's open handles keep are not seen.
 */
export async function changeableByOthers(path: string): Promise<string | null> {
  const user = process.geteuid?.();
  if (user === undefined) return null;
  const real = await realpath(path);
  if (!isOwn(await lstat(real), user)) return real;
  for (const way of new Set([dirname(path), dirname(real)])) {
    const folder = await openFolder(way, user);
    if (folder !== null) return folder;
  }
  return null;
}

/** From the file up to the root; the content of a folder that others cannot search is out of their reach. */
async function openFolder(from: string, user: number): Promise<string | null> {
  let found: string | null = null;
  for (let folder = from; ; folder = dirname(folder)) {
    const stat = await lstat(folder);
    const isSafe = isOwn(stat, user) || (isOwned(stat, user) && (stat.mode & STICKY) !== 0);
    if (!isSafe) found = folder;
    else if ((stat.mode & OTHERS_SEARCH) === 0) found = null;
    if (folder === dirname(folder)) return found;
  }
}

function isOwn(stat: Stats, user: number): boolean {
  // A private group, as most distributions give to each user, has no other members.
  const others = stat.gid === stat.uid ? OTHERS_WRITE & ~GROUP_WRITES : OTHERS_WRITE;
  return isOwned(stat, user) && (stat.isSymbolicLink() || (stat.mode & others) === 0);
}

const isOwned = ({ uid }: Stats, user: number): boolean => uid === user || uid === 0;
