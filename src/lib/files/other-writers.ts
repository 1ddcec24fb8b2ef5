/** Finds users who could replace the bytes at a path, by owners and modes. */
import type { Stats } from 'node:fs';
import { lstat, realpath } from 'node:fs/promises';
import { dirname } from 'node:path';

const OTHERS_WRITE = 0o022;
const GROUP_WRITES = 0o020;
const OTHERS_SEARCH = 0o011;
const STICKY = 0o1000;

/**
 * Null when only this user and root can write or replace the file; otherwise the path that others can change. Rights
 * of already open handles are invisible.
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
  // The private group that most distributions create per user has no other members.
  const others = stat.gid === stat.uid ? OTHERS_WRITE & ~GROUP_WRITES : OTHERS_WRITE;
  return isOwned(stat, user) && (stat.isSymbolicLink() || (stat.mode & others) === 0);
}

const isOwned = ({ uid }: Stats, user: number): boolean => uid === user || uid === 0;
