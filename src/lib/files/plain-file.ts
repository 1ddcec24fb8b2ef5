import { createHash } from 'node:crypto';
import { constants, type BigIntStats } from 'node:fs';
import { type FileHandle, open, realpath } from 'node:fs/promises';
import { fail, isFailure, isSvcError } from '../errors/svc-error.ts';
import { errnoCode, unreadable } from './durable.ts';

export interface FileStamp {
  readonly sizeBytes: number;
  readonly mtimeMs: number;
  readonly inode: string;
  /** Time of the last change of content, owner, mode or links; unlike mtime, programs cannot set it. */
  readonly ctimeNs: string;
}

const SETTLED_MS = 50;

/** Chosen: hashing a piece blocks the event loop for less than a millisecond. */
const HASH_CHUNK_BYTES = 512 * 1024;

/** Does not follow a final link, block on a device, or read the file. */
export async function openPlainFile(
  path: string,
): Promise<{ file: FileHandle; path: string; stamp: FileStamp }> {
  const real = await resolveReal(path);
  const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
  const file = await open(real, flags).catch((error: unknown) => {
    throw openFailure(path, error);
  });
  try {
    const stat = await file.stat({ bigint: true });
    if (!stat.isFile()) throw unusable(path, `it is ${fileKind(stat)}, not a file`);
    return { file, path: real, stamp: fileStamp(stat) };
  } catch (error) {
    await file.close();
    throw error;
  }
}

export async function stampFile(path: string): Promise<FileStamp> {
  const { file, stamp } = await openPlainFile(path);
  await file.close();
  return stamp;
}

export function sameStamp(
  stamp: FileStamp,
  known: { sizeBytes: number; mtimeMs: number; inode?: string; ctimeNs?: string },
): boolean {
  return (
    stamp.sizeBytes === known.sizeBytes &&
    stamp.mtimeMs === known.mtimeMs &&
    (known.inode === undefined || stamp.inode === known.inode) &&
    (known.ctimeNs === undefined || stamp.ctimeNs === known.ctimeNs)
  );
}

export interface SettingFile {
  readonly as: string;
  readonly mostBytes: number;
}

/** Throws `setting_file_unusable`, `file_not_found` or `store_unreadable`. */
export async function readSettingFile(path: string, { as, mostBytes }: SettingFile): Promise<string> {
  const refuse = (reason: string): Error => fail('setting_file_unusable', { path, as, reason });
  const { file, stamp } = await openPlainFile(path).catch((error: unknown) => {
    throw isFailure(error, 'file_unusable') ? refuse(error.detail.reason) : error;
  });
  try {
    if (stamp.sizeBytes > mostBytes)
      throw refuse(`it is ${stamp.sizeBytes} bytes long; the limit is ${mostBytes}`);
    return (await readBeginning(file, mostBytes)).toString('utf8');
  } finally {
    await file.close();
  }
}

export async function readPlainFile(path: string, mostBytes: number): Promise<Buffer> {
  const { file, stamp } = await openPlainFile(path);
  try {
    return await readBeginning(file, Math.min(mostBytes, stamp.sizeBytes));
  } finally {
    await file.close();
  }
}

/** Stops at the limit, because a file may grow while it is read. */
async function readBeginning(file: FileHandle, mostBytes: number): Promise<Buffer> {
  const bytes = Buffer.alloc(mostBytes);
  const { bytesRead } = await file.read(bytes, 0, bytes.length, 0);
  return bytes.subarray(0, bytesRead);
}

const MAX_TEXT_BYTES = 64 * 1024 * 1024;

/**
 * Null if the file is absent. A pipe, a device or a folder in its place throws `store_unreadable` instead of
 * blocking.
 */
export async function readText(path: string, maxBytes = MAX_TEXT_BYTES): Promise<string | null> {
  const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)).catch((error: unknown) => {
    if (errnoCode(error) === 'ENOENT') return null;
    throw unreadable(path, errnoCode(error) ?? String(error), error);
  });
  if (file === null) return null;
  try {
    const stat = await file.stat({ bigint: true });
    if (!stat.isFile()) throw unreadable(path, `it is ${fileKind(stat)}, not a file`);
    if (stat.size > maxBytes) throw unreadable(path, `it is longer than ${maxBytes} bytes`);
    return await file.readFile('utf8');
  } catch (error) {
    throw isSvcError(error) ? error : unreadable(path, errnoCode(error) ?? String(error), error);
  } finally {
    await file.close();
  }
}

export async function hashFile(path: string, options: ReadOptions = {}): Promise<string> {
  const hash = createHash('sha256');
  await readChunks(path, (bytes) => hash.update(bytes), options);
  return hash.digest('hex');
}

interface ReadOptions {
  readonly signal?: AbortSignal;
  readonly onBytes?: (readBytes: number) => void;
}

/** A piece is only valid during the call. */
export async function readChunks(
  path: string,
  onChunk: (bytes: Uint8Array) => unknown,
  options: ReadOptions = {},
): Promise<void> {
  const { file } = await openPlainFile(path);
  try {
    const chunk = Buffer.allocUnsafe(HASH_CHUNK_BYTES);
    let position = 0;
    while (true) {
      options.signal?.throwIfAborted();
      const { bytesRead } = await file.read(chunk, 0, chunk.length, position);
      if (bytesRead === 0) return;
      onChunk(chunk.subarray(0, bytesRead));
      position += bytesRead;
      options.onBytes?.(position);
    }
  } finally {
    await file.close();
  }
}

function fileStamp(stat: BigIntStats): FileStamp {
  return {
    sizeBytes: Number(stat.size),
    mtimeMs: Number(stat.mtimeMs),
    inode: String(stat.ino),
    ctimeNs: String(stat.ctimeNs),
  };
}

/**
 * Two changes within one tick of the file system's clock leave the same stamp, so a young stamp proves nothing about
 * later changes.
 */
export function isSettled({ ctimeNs }: FileStamp): boolean {
  return Math.abs(Date.now() - Number(BigInt(ctimeNs) / 1_000_000n)) > SETTLED_MS;
}

export function unusable(path: string, reason: string): Error {
  return fail('file_unusable', { path, param: path, reason });
}

async function resolveReal(path: string): Promise<string> {
  if (path.includes('\0')) throw unusable(path, 'its name contains a NUL character');
  return realpath(path).catch((error: unknown) => {
    throw openFailure(path, error);
  });
}

function openFailure(path: string, error: unknown): Error {
  const code = errnoCode(error);
  // A name that is too long cannot exist.
  if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ENAMETOOLONG')
    return fail('file_not_found', { path, param: path }, error);
  if (code === 'EACCES' || code === 'EPERM') {
    return fail(
      'store_unreadable',
      { path, param: path, reason: code, remedy: 'give this user read permission on it and its folders' },
      error,
    );
  }
  if (code === 'ELOOP')
    return fail('file_unusable', { path, param: path, reason: 'it is a symbolic link loop' }, error);
  return fail('file_unusable', { path, param: path, reason: code ?? String(error) }, error);
}

function fileKind(stat: BigIntStats): string {
  if (stat.isDirectory()) return 'a folder';
  if (stat.isFIFO()) return 'a pipe';
  if (stat.isCharacterDevice() || stat.isBlockDevice()) return 'a device';
  return 'something else';
}
