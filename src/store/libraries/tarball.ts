/**
 * Unpacks an npm archive: gzip around ustar, everything in one folder whose name is ignored. Only plain files are
 * written, and a path outside of the target is refused.
 */
import { createReadStream } from 'node:fs';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createGunzip } from 'node:zlib';
import { writeAll, writeFailure } from '../../lib/files/durable.ts';

const BLOCK = 512;
const PLAIN = ['0', '\0'];
const SKIPPED = ['5', 'g'];

interface Entry {
  readonly name: string;
  readonly kind: string;
  readonly sizeBytes: number;
}

/** `only`: the one folder of the archive to unpack; empty: all. */
export async function unpackTarball(archive: string, target: string, only = ''): Promise<void> {
  const unzip = createGunzip();
  const source = createReadStream(archive);
  source.on('error', (error) => unzip.destroy(error));
  source.pipe(unzip);
  const reader = new BlockReader(unzip);
  try {
    for (let header = await reader.take(BLOCK); header.some((byte) => byte !== 0); ) {
      await unpackEntry(reader, parseEntry(header), { target, only });
      header = await reader.take(BLOCK);
    }
  } finally {
    source.destroy();
    unzip.destroy();
  }
}

async function unpackEntry(
  reader: BlockReader,
  entry: Entry,
  { target, only }: { readonly target: string; readonly only: string },
): Promise<void> {
  if (!PLAIN.includes(entry.kind) && !SKIPPED.includes(entry.kind))
    throw new Error(`it holds an entry of kind "${entry.kind}" (${entry.name})`);
  const name = PLAIN.includes(entry.kind) ? safeName(entry.name) : null;
  const isWanted = name !== null && (only === '' || name[0] === only);
  const file = isWanted ? await create(join(target, ...name)) : null;
  try {
    for (let left = entry.sizeBytes; left > 0; ) {
      const part = await reader.some(left);
      await file?.write(part);
      left -= part.length;
    }
    await file?.sync();
  } finally {
    await file?.close();
  }
  await reader.take((BLOCK - (entry.sizeBytes % BLOCK)) % BLOCK);
}

async function create(path: string) {
  let handle: FileHandle;
  const failed = (error: unknown): never => {
    throw writeFailure(path, error);
  };
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    handle = await open(path, 'wx', 0o600);
  } catch (error) {
    return failed(error);
  }
  return {
    write: (bytes: Uint8Array) => writeAll(handle, bytes).catch(failed),
    sync: () => handle.sync(),
    close: () => handle.close(),
  };
}

function parseEntry(header: Buffer): Entry {
  const text = (from: number, length: number): string =>
    header.toString('utf8', from, from + length).replace(/\0.*$/s, '');
  const octal = (from: number, length: number): number =>
    Number.parseInt(text(from, length).trim() || '0', 8);
  const sum = header.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 32 : byte), 0);
  if (octal(148, 8) !== sum) throw new Error('it is not a tar archive');
  const prefix = text(257, 5) === 'ustar' ? text(345, 155) : '';
  const name = prefix === '' ? text(0, 100) : `${prefix}/${text(0, 100)}`;
  const sizeBytes = octal(124, 12);
  if (!Number.isSafeInteger(sizeBytes)) throw new Error(`the size of ${name} cannot be read`);
  return { name, kind: header.toString('latin1', 156, 157), sizeBytes };
}

function safeName(name: string): string[] {
  const [, ...parts] = name.split('/');
  const isSafe =
    parts.length > 0 && parts.every((part) => /^[^\\:\0]+$/.test(part) && part !== '.' && part !== '..');
  if (!isSafe) throw new Error(`it names a file outside of its folder (${JSON.stringify(name)})`);
  return parts;
}

class BlockReader {
  readonly #parts: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(stream: AsyncIterable<Buffer>) {
    this.#parts = stream[Symbol.asyncIterator]();
  }

  async take(count: number): Promise<Buffer> {
    while (this.#rest.length < count) this.#rest = Buffer.concat([this.#rest, await this.#next()]);
    return this.#cut(count);
  }

  async some(most: number): Promise<Buffer> {
    if (this.#rest.length === 0) this.#rest = await this.#next();
    return this.#cut(Math.min(most, this.#rest.length));
  }

  #cut(count: number): Buffer {
    const taken = this.#rest.subarray(0, count);
    this.#rest = this.#rest.subarray(count);
    return taken;
  }

  async #next(): Promise<Buffer> {
    const { done, value } = await this.#parts.next();
    if (done === true) throw new Error('it ends too early');
    return value;
  }
}
