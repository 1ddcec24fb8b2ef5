import { randomBytes } from 'node:crypto';
import { type FileHandle, open, readdir, rm, stat, utimes } from 'node:fs/promises';
import path from 'node:path';
import { errorMessage } from '../../../lib/errors/svc-error.ts';
import { isRunning } from '../../../lib/base/process-tree.ts';
import {
  makeFolder,
  PRIVATE_FILE,
  syncFolder,
  temporaryName,
  temporaryOwner,
  writeAll,
} from '../../../lib/files/durable.ts';
import { PINNED_MS } from '../../../lib/files/cache-folder.ts';
import { domainTag } from './domain-tag.ts';
import { type BlockHeader, headerText, parseHeader } from './block-header.ts';
import {
  endOfRows,
  headerEnd,
  decryptHeader,
  proven,
  rowDecipher,
  FORM,
  type FileKey,
  fileBytes,
  encryptHeader,
} from './encrypted-file.ts';
import { rename } from '../../../lib/files/busy.ts';

/** Bytes encrypted and written at once: they determine the longest delay of a step of the batch loop. */
const WRITE_BYTES = 1024 * 1024;
const READ_BYTES = 4 * 1024 * 1024;
const FIRST_BYTES = 16 * 1024;
/** Chosen: a conversation unused for a week is over, and its state should not be kept. */
const LONGEST_UNUSED_MS = 7 * 24 * 3_600_000;
const NAME = /^([0-9a-f]{32})\.kv$/;

export interface StoredBlock {
  readonly id: string;
  readonly header: BlockHeader;
  readonly bytes: number;
  usedMs: number;
  isPinned: boolean;
}

/** Called between slices; rejects to stop. */
export type Pause = () => Promise<void>;

export class BlockFolder {
  readonly path: string;
  readonly #key: FileKey;
  readonly #log: (sentence: string) => void;
  #hasProblem = false;

  constructor(folder: string, key: FileKey, log: (sentence: string) => void) {
    this.path = folder;
    this.#key = key;
    this.#log = log;
  }

  /** Returns all files with valid headers, parents first; removes the others, and leftovers of a crash. */
  async scan(): Promise<StoredBlock[]> {
    await makeFolder(this.path);
    const blocks: StoredBlock[] = [];
    for (const name of await readdir(this.path)) {
      const [, id] = NAME.exec(name) ?? [];
      if (id === undefined) {
        if (isLeftover(name)) await rm(path.join(this.path, name), { force: true });
        continue;
      }
      const block = await this.#read(id).catch(() => null);
      if (block === null || block.usedMs < Date.now() - LONGEST_UNUSED_MS) await this.remove(id);
      else blocks.push(block);
    }
    return blocks.sort((a, b) => a.header.start - b.header.start);
  }

  /** Temporary file, fsync, rename. `rows` have `header.rowBytes` in total, in any pieces. */
  async write(header: BlockHeader, rows: Iterable<Uint8Array>, pause: Pause): Promise<StoredBlock> {
    const id = domainTag(this.#key.secret, header.owner) + randomBytes(8).toString('hex');
    const temporary = path.join(this.path, temporaryName(id));
    const encrypted = encryptHeader(this.#key, randomBytes(FORM.saltBytes), headerText(header), header.owner);
    // The cache may have been cleared meanwhile.
    await makeFolder(this.path);
    try {
      const file = await open(temporary, 'wx', PRIVATE_FILE);
      try {
        await writeAll(file, encrypted.bytes);
        for (const slice of cutSlices(rows, WRITE_BYTES)) {
          await pause();
          await writeAll(file, encrypted.rows.update(slice));
        }
        await writeAll(file, endOfRows(encrypted.rows));
        await file.datasync();
      } finally {
        await file.close();
      }
      await rename(temporary, this.#blockPath(id));
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
    return {
      id,
      header,
      bytes: fileBytes(encrypted.bytes.length, header.rowBytes),
      usedMs: Date.now(),
      isPinned: false,
    };
  }

  async sync(): Promise<void> {
    await syncFolder(this.path);
  }

  /** The encrypted bytes; null if the file is missing or has another length. */
  async fetch(block: StoredBlock, staging: Staging): Promise<Buffer | null> {
    return staging.read(this.#blockPath(block.id), block.bytes).catch(() => null);
  }

  /**
   * Gives `take` a function that returns the next N bytes of the rows. If the result is false, the file failed its
   * check: discard everything that was taken.
   */
  open(block: StoredBlock, encrypted: Buffer, take: (next: (bytes: number) => Uint8Array) => void): boolean {
    const end = headerEnd(encrypted);
    if (end === null || encrypted.length !== fileBytes(end, block.header.rowBytes)) return false;
    const last = encrypted.length - FORM.tagBytes;
    const opener = rowDecipher(this.#key, encrypted, encrypted.subarray(last), block.header.owner);
    let at = end;
    const opened = proven(() => {
      take((bytes) => {
        at += bytes;
        return opener.update(encrypted.subarray(at - bytes, Math.min(at, last)));
      });
      return opener.final();
    });
    return opened !== null && at === last;
  }

  /** Marks it as newer than the files that continue it, so that those are evicted first. */
  async touch(block: StoredBlock): Promise<void> {
    const seconds = (block.isPinned ? PINNED_MS : Date.now() - block.header.start) / 1000;
    await utimes(this.#blockPath(block.id), seconds, seconds).catch(() => undefined);
  }

  async remove(id: string): Promise<void> {
    try {
      await rm(this.#blockPath(id), { force: true });
    } catch (error) {
      if (!this.#hasProblem)
        this.#log(`The prompt cache takes more of the disk than it may: ${errorMessage(error)}`);
      this.#hasProblem = true;
    }
  }

  #blockPath(id: string): string {
    return path.join(this.path, `${id}.kv`);
  }

  async #read(id: string): Promise<StoredBlock | null> {
    const file = await open(this.#blockPath(id), 'r');
    try {
      const { size, mtimeMs } = await file.stat();
      const first = await readAt(file, Math.min(size, FIRST_BYTES), 0);
      const end = headerEnd(first);
      if (end === null || end > size) return null;
      const start = end <= first.length ? first : await readAt(file, end, 0);
      const text = decryptHeader(this.#key, start);
      const header = text === null ? null : parseHeader(text);
      if (header === null || size !== fileBytes(end, header.rowBytes)) return null;
      return { id, header, bytes: size, usedMs: mtimeMs, isPinned: mtimeMs === PINNED_MS };
    } finally {
      await file.close();
    }
  }
}

/** A reused buffer: fresh memory for each file would cost as much as reading it. */
export class Staging {
  #buffer = Buffer.alloc(0);

  async read(file: string, bytes: number): Promise<Buffer | null> {
    const { size } = await stat(file);
    if (size !== bytes) return null;
    if (this.#buffer.length < bytes) this.#buffer = Buffer.allocUnsafeSlow(bytes);
    const handle = await open(file, 'r');
    try {
      const into = this.#buffer.subarray(0, bytes);
      await fill(handle, into);
      return into;
    } finally {
      await handle.close();
    }
  }
}

/** Slices of the same size, the last one shorter; each is valid until the next. */
function* cutSlices(pieces: Iterable<Uint8Array>, bytes: number): Generator<Uint8Array> {
  const slice = Buffer.allocUnsafe(bytes);
  let filled = 0;
  for (const piece of pieces) {
    for (let at = 0; at < piece.length; ) {
      const taken = piece.subarray(at, at + bytes - filled);
      slice.set(taken, filled);
      at += taken.length;
      filled += taken.length;
      if (filled < bytes) continue;
      yield slice;
      filled = 0;
    }
  }
  if (filled > 0) yield slice.subarray(0, filled);
}

async function readAt(file: FileHandle, bytes: number, position: number): Promise<Buffer> {
  const buffer = Buffer.alloc(bytes);
  const { bytesRead } = await file.read(buffer, 0, bytes, position);
  return buffer.subarray(0, bytesRead);
}

async function fill(file: FileHandle, buffer: Buffer): Promise<void> {
  let at = 0;
  while (at < buffer.length) {
    const { bytesRead } = await file.read(buffer, at, Math.min(READ_BYTES, buffer.length - at), at);
    if (bytesRead === 0) throw new Error('the file ends early');
    at += bytesRead;
  }
}

function isLeftover(name: string): boolean {
  const owner = temporaryOwner(name);
  return owner !== null && !isRunning(owner);
}
