/** How a file is opened: a caller with rules of its own, such as none for links, gives another function. */
import { type FileHandle, open } from 'node:fs/promises';
import { GgufError } from './gguf-error.ts';

export interface OpenedFile {
  readonly file: FileHandle;
  readonly sizeBytes: number;
}

export type OpenFile = (path: string) => Promise<OpenedFile>;

export const openFile: OpenFile = async (path) => {
  const file = await open(path, 'r');
  const stat = await file.stat();
  if (stat.isFile()) return { file, sizeBytes: stat.size };
  await file.close();
  throw new GgufError('it is not a file');
};
