/** A file that a program has mapped for writing: what it writes there changes the file and none of its time stamps. */
import { existsSync } from 'node:fs';
import { mkdtemp, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import koffi from 'koffi';
import { removeFolder } from './remove-folder.ts';

const READ_AND_WRITE = 3;
const SHARED = 1;

/** A folder in memory where there is one: on a disk, a page that was written back moves the time stamps once more. */
export async function folderInMemory(): Promise<{ folder: string; remove: () => Promise<void> }> {
  const folder = await mkdtemp(path.join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'hearth-mapped-'));
  return { folder, remove: () => removeFolder(folder) };
}

export interface MappedFile {
  write(offset: number, byte: number): void;
  unmap(): void;
}

export async function mapForWriting(file: string): Promise<MappedFile> {
  const libc = koffi.load(null);
  const mmap = libc.func('mmap', 'void *', ['void *', 'size_t', 'int', 'int', 'int', 'long']);
  const munmap = libc.func('munmap', 'int', ['void *', 'size_t']);
  const handle = await open(file, 'r+');
  try {
    const { size } = await handle.stat();
    const address: unknown = mmap(null, size, READ_AND_WRITE, SHARED, handle.fd, 0);
    return {
      write: (offset, byte) => koffi.encode(address, offset, 'uint8_t', byte),
      unmap: () => void munmap(address, size),
    };
  } finally {
    await handle.close();
  }
}
