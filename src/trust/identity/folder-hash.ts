/**
 * Hashes of folders that coreutils can recompute: the SHA-256 of a `sha256sum` list. trust/identity owns who this
 * install is and which bytes it runs: keys, ids, hashes of the server and of the backend. It does not know what is
 * signed with the key (trust/evidence does) nor how identity is served (api/ does).
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { errorMessage } from '../../lib/errors/svc-error.ts';
import { errnoCode } from '../../lib/files/durable.ts';

export interface FileFacts {
  readonly name: string;
  readonly sha256: string;
  readonly sizeBytes: number;
  readonly mtimeMs: number;
  readonly inode: number;
  readonly device: number;
}

export interface FolderHash {
  readonly folder: string;
  /** SHA-256 of the lines `<sha256>  <name>\n` of all files, sorted bytewise. */
  readonly sha256: string;
  readonly files: readonly FileFacts[];
}

/**
 * Hashes every file of the folder. Top-level entries whose names begin with a dot are bookkeeping of the build and do
 * not count, as in `find * -type f`. Anything but a plain file or folder is an error.
 */
export async function hashFolder(folder: string): Promise<FolderHash> {
  const names = await listFiles(folder);
  const files = await Promise.all(names.map((name) => hashFile(folder, name)));
  const lines = files.map((file) => Buffer.from(`${file.sha256}  ${file.name}\n`));
  const list = createHash('sha256');
  for (const line of lines.sort((a, b) => Buffer.compare(a, b))) list.update(line);
  return { folder, sha256: list.digest('hex'), files };
}

export async function findChange(hashed: FolderHash): Promise<string | null> {
  const names = await listFiles(hashed.folder).catch((error: unknown) =>
    errnoCode(error) === 'ENOENT' ? 'is gone' : `cannot be read: ${errorMessage(error)}`,
  );
  if (typeof names === 'string') return `${hashed.folder} ${names}`;
  const known = new Map(hashed.files.map((file) => [file.name, file]));
  const added = names.find((name) => !known.has(name));
  if (added !== undefined) return `${join(hashed.folder, added)} appeared after this boot`;
  for (const file of hashed.files) {
    const path = join(hashed.folder, file.name);
    const now = await stat(path).catch(() => null);
    if (now === null) return `${path} is gone`;
    const same =
      now.ino === file.inode &&
      now.dev === file.device &&
      now.size === file.sizeBytes &&
      now.mtimeMs === file.mtimeMs;
    // A build or a copy writes the same bytes anew.
    if (!same && (await hashFile(hashed.folder, file.name).catch(() => null))?.sha256 !== file.sha256)
      return `${path} changed after this boot`;
  }
  return null;
}

async function listFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const names: string[] = [];
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name).slice(join(folder, sep).length);
    const name = sep === '/' ? path : path.split(sep).join('/');
    if (name.startsWith('.') || entry.isDirectory()) continue;
    if (!entry.isFile()) throw new Error(`${join(folder, path)} is not a plain file`);
    // sha256sum escapes such names, which would change the list's format.
    if (/[\n\r\\]/.test(name)) throw new Error(`${JSON.stringify(name)} cannot stand in a sha256sum list`);
    names.push(name);
  }
  return names.sort();
}

async function hashFile(folder: string, name: string): Promise<FileFacts> {
  const path = join(folder, name);
  const before = await stat(path);
  const sha256 = await sha256OfFile(path);
  const after = await stat(path);
  // The hash of a file that changes during the read is meaningless.
  if (before.ino !== after.ino || before.mtimeMs !== after.mtimeMs || before.size !== after.size)
    throw new Error(`${path} changed while it was hashed`);

  const { size: sizeBytes, mtimeMs, ino: inode, dev: device } = after;
  return { name, sha256, sizeBytes, mtimeMs, inode, device };
}

export async function sha256OfFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) hash.update(chunk as Buffer);
  return hash.digest('hex');
}
