/** Default opener; callers with stricter rules, such as no links, pass their own. */
import { type FileHandle, open } from 'node:fs/promises';
import { GgufError } from './gguf-error.ts';

interface OpenedFile {
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
