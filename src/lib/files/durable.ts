/**
 * lib/files owns crash-safe file changes, checks before reading, and disk space. It knows nothing of models. This
 * file: temporary file, fsync, rename, fsync of the folder; no package does all of them. `onStep` names each point
 * between which a crash can happen; tests end the process there.
 */
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { access, type FileHandle, mkdir, open, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fail, isSvcError, type SvcError } from '../errors/svc-error.ts';
import { rename, unlink } from './busy.ts';

export type StepHook = (step: string) => void | Promise<void>;

export const PRIVATE_FILE = 0o600;
const PRIVATE_FOLDER = 0o700;

/** A reader sees the old bytes or the new ones, never a mixture. */
export async function writeDurably(path: string, text: string, onStep?: StepHook): Promise<void> {
  const kind = basename(dirname(path));
  const step = async (name: string) => onStep?.(`${kind}.${name}`);
  const temporary = join(dirname(path), temporaryName(basename(path)));
  const bytes = Buffer.from(text, 'utf8');
  try {
    const file = await open(temporary, 'wx', PRIVATE_FILE);
    try {
      await step('opened');
      await writeAll(file, bytes.subarray(0, bytes.length >> 1));
      await step('half-written');
      await writeAll(file, bytes.subarray(bytes.length >> 1));
      await step('written');
      await file.sync();
    } finally {
      await file.close();
    }
    await step('synced');
    await rename(temporary, path);
  } catch (error) {
    // The cause of the failed write may also prevent this; the first reason is reported.
    await rm(temporary, { force: true }).catch(() => {});
    throw writeFailure(path, error);
  }
  await step('renamed');
  await syncFolder(dirname(path));
  await step('folder-synced');
}

export async function moveDurably(from: string, to: string, onStep?: StepHook): Promise<void> {
  const kind = basename(dirname(to));
  try {
    await rename(from, to);
  } catch (error) {
    throw writeFailure(to, error);
  }
  await onStep?.(`${kind}.renamed`);
  await syncFolder(dirname(to));
  await onStep?.(`${kind}.folder-synced`);
}

export async function removeDurably(path: string, onStep?: StepHook): Promise<void> {
  const kind = basename(dirname(path));
  try {
    await unlink(path);
  } catch (error) {
    if (errnoCode(error) === 'ENOENT') return;
    throw writeFailure(path, error);
  }
  await onStep?.(`${kind}.unlinked`);
  await syncFolder(dirname(path));
  await onStep?.(`${kind}.unlink-synced`);
}

export async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: PRIVATE_FOLDER });
  } catch (error) {
    throw writeFailure(path, error);
  }
}

/** True if the folder exists and this user cannot change it, by its mode or a read-only mount. */
export async function isReadOnly(folder: string): Promise<boolean> {
  try {
    await access(folder, constants.W_OK);
    return false;
  } catch (error) {
    return ['EROFS', 'EACCES', 'EPERM'].includes(errnoCode(error) ?? '');
  }
}

/** Continues short writes, which makes a full disk show as an error. */
export async function writeAll(file: FileHandle, bytes: Uint8Array): Promise<void> {
  let done = 0;
  while (done < bytes.byteLength) {
    const { bytesWritten } = await file.write(bytes, done, bytes.byteLength - done);
    done += bytesWritten;
  }
}

/** Makes renames and removals durable. Windows cannot open folders and orders these itself. */
export async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

const TEMPORARY = /^\.(.*)\.tmp-(\d+)-[0-9a-f]{12}$/;

/** Listings skip this name; its process id identifies leftovers of dead processes. */
export function temporaryName(base: string): string {
  return `.${base.slice(0, 120)}.tmp-${process.pid}-${randomBytes(6).toString('hex')}`;
}

export function temporaryOwner(name: string): number | null {
  const [, , pid] = TEMPORARY.exec(name) ?? [];
  return pid === undefined ? null : Number(pid);
}

export function temporaryBase(name: string): string | null {
  return TEMPORARY.exec(name)?.[1] ?? null;
}

export function errnoCode(error: unknown): string | undefined {
  const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined;
  return typeof code === 'string' ? code : undefined;
}

/** For `catch`: the value in place of what does not exist; throws every other error. */
export const ifMissing =
  <Value>(value: Value) =>
  (error: unknown): Value => {
    if (errnoCode(error) === 'ENOENT') return value;
    throw error;
  };

/** Null if the file does not exist. */
export const fileSize = (file: string): Promise<number | null> =>
  stat(file).then(({ size }) => size, ifMissing(null));

const WRITES = new Set([
  'mkdir',
  'link',
  'rename',
  'unlink',
  'chmod',
  'write',
  'fsync',
  'copyfile',
  'utime',
  'rmdir',
]);
const UNWRITABLE = new Set(['ENOSPC', 'EDQUOT', 'EFBIG', 'EROFS']);

export function fileFailure(error: unknown): SvcError | null {
  const code = errnoCode(error);
  const { path, syscall } = error as NodeJS.ErrnoException;
  if (code === undefined || path === undefined || syscall === undefined) return null;
  if (WRITES.has(syscall) || UNWRITABLE.has(code)) return writeFailure(path, error);
  return unreadable(path, code, error);
}

export function unreadable(path: string, reason: string, cause?: unknown): SvcError {
  const remedy = 'check what it is, its owner and permissions, or set SVC_HOME to another folder';
  return fail('store_unreadable', { path, param: path, reason, remedy }, cause);
}

export function writeFailure(path: string, error: unknown): SvcError {
  if (isSvcError(error)) return error;
  const code = errnoCode(error);
  if (code === 'ENOSPC' || code === 'EDQUOT' || code === 'EFBIG')
    return fail('disk_full', { path, param: path, reason: code }, error);
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS')
    return fail('store_unwritable', { path, param: path, reason: code }, error);
  return fail('store_unwritable', { path, param: path, reason: code ?? String(error) }, error);
}
