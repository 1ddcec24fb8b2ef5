/** Unpacks a Python wheel (a zip archive): plain files only, none outside of the target. */
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { crc32, createInflateRaw } from 'node:zlib';
import { writeAll, writeFailure } from '../../lib/files/durable.ts';

const END = 0x06054b50;
const END_BYTES = 22;
const MOST_COMMENT = 0xffff;
const ENTRY = 0x02014b50;
const ENTRY_BYTES = 46;
const LOCAL = 0x04034b50;
const LOCAL_BYTES = 30;
const STORED = 0;
const DEFLATED = 8;
const ENCRYPTED = 1;
const MOST_ENTRIES = 50_000;
/** Chosen: the largest file is cuBLAS with 503 MB. */
const MOST_BYTES = 700_000_000;
const PIECE_BYTES = 1 << 20;
const UNIX = 3;
const FILE_KIND = 0o170000;
const PLAIN = 0o100000;
const RUNNABLE = 0o111;

interface Entry {
  readonly name: string;
  readonly method: number;
  readonly crc: number;
  readonly packed: number;
  readonly size: number;
  readonly at: number;
  readonly isProgram: boolean;
}

export async function unpackWheel(
  archive: string,
  target: string,
  wants: (path: string) => boolean = () => true,
): Promise<void> {
  const file = await open(archive, 'r');
  try {
    const made = new Set<string>();
    for (const entry of await readEntries(file)) {
      const path = join(target, ...safeName(entry.name));
      if (entry.name.endsWith('/') || !wants(entry.name)) continue;
      if (!made.has(dirname(path))) await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      made.add(dirname(path));
      await unpackEntry(file, entry, path);
    }
  } finally {
    await file.close();
  }
}

async function unpackEntry(file: FileHandle, entry: Entry, path: string): Promise<void> {
  const { name, method, packed, size, crc } = entry;
  const start = await findStart(file, entry);
  const target = await open(path, 'wx', entry.isProgram ? 0o700 : 0o600).catch((error: unknown) => {
    throw writeFailure(path, error);
  });
  let written = 0;
  let sum = 0;
  const write = async (source: AsyncIterable<Buffer>): Promise<void> => {
    for await (const part of source) {
      written += part.length;
      if (written > size) throw new Error(`${name} is larger than it says`);
      sum = crc32(part, sum);
      await writeAll(target, part).catch((error: unknown) => {
        throw writeFailure(path, error);
      });
    }
  };
  try {
    const pieces = Readable.from(readPieces(file, start, packed));
    await (method === STORED
      ? pipeline(pieces, write)
      : pipeline(pieces, createInflateRaw(), write).catch((error: unknown) => {
          throw isOfZlib(error) ? new Error(`${name} is damaged`, { cause: error }) : error;
        }));
    if (written !== size || sum !== crc) throw new Error(`${name} is damaged`);
  } finally {
    await target.close();
  }
}

const isOfZlib = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && String(error.code).startsWith('Z_');

async function readEntries(file: FileHandle): Promise<Entry[]> {
  const { size } = await file.stat();
  const tail = await read(
    file,
    Math.max(0, size - END_BYTES - MOST_COMMENT),
    Math.min(size, END_BYTES + MOST_COMMENT),
  );
  let end = tail.length - END_BYTES;
  while (end >= 0 && tail.readUInt32LE(end) !== END) end -= 1;
  if (end < 0) throw new Error('it is not a zip archive');
  const count = tail.readUInt16LE(end + 10);
  if (count > MOST_ENTRIES) throw new Error('it holds too many files');
  const list = await read(file, tail.readUInt32LE(end + 16), tail.readUInt32LE(end + 12));
  const entries: Entry[] = [];
  for (let at = 0; entries.length < count; ) {
    if (at + ENTRY_BYTES > list.length || list.readUInt32LE(at) !== ENTRY)
      throw new Error('its list of files is damaged');
    entries.push(entryAt(list, at));
    at += ENTRY_BYTES + list.readUInt16LE(at + 28) + list.readUInt16LE(at + 30) + list.readUInt16LE(at + 32);
  }
  return entries;
}

function entryAt(list: Buffer, at: number): Entry {
  const start = at + ENTRY_BYTES;
  const name = list.toString('utf8', start, start + list.readUInt16LE(at + 28));
  if ((list.readUInt16LE(at + 8) & ENCRYPTED) !== 0) throw new Error(`${name} is encrypted`);
  const mode = list.readUInt8(at + 5) === UNIX ? list.readUInt32LE(at + 38) >>> 16 : 0;
  const kind = mode & FILE_KIND;
  if (kind !== 0 && kind !== PLAIN && !name.endsWith('/')) throw new Error(`${name} is not a plain file`);
  return {
    name,
    method: list.readUInt16LE(at + 10),
    crc: list.readUInt32LE(at + 16),
    packed: list.readUInt32LE(at + 20),
    size: list.readUInt32LE(at + 24),
    at: list.readUInt32LE(at + 42),
    isProgram: (mode & RUNNABLE) !== 0,
  };
}

async function findStart(file: FileHandle, { name, method, packed, size, at }: Entry): Promise<number> {
  if (size > MOST_BYTES || packed > MOST_BYTES) throw new Error(`${name} is too large`);
  const header = await read(file, at, LOCAL_BYTES);
  if (header.readUInt32LE(0) !== LOCAL) throw new Error(`${name} is damaged`);
  if (method !== STORED && method !== DEFLATED) throw new Error(`${name} is packed in an unknown way`);
  return at + LOCAL_BYTES + header.readUInt16LE(26) + header.readUInt16LE(28);
}

async function* readPieces(file: FileHandle, start: number, length: number): AsyncGenerator<Buffer> {
  for (let at = start; at < start + length; at += PIECE_BYTES)
    yield await read(file, at, Math.min(PIECE_BYTES, start + length - at));
}

async function read(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length);
  let done = 0;
  while (done < length) {
    const { bytesRead } = await file.read(bytes, done, length - done, position + done);
    if (bytesRead === 0) throw new Error('it ends too early');
    done += bytesRead;
  }
  return bytes;
}

function safeName(name: string): string[] {
  const parts = name.replace(/\/$/, '').split('/');
  if (!parts.every((part) => /^[^\\:\0]+$/.test(part) && part !== '.' && part !== '..'))
    throw new Error(`it names a file outside of its folder (${JSON.stringify(name)})`);
  return parts;
}
