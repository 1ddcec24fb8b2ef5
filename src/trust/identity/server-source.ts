/** Which server bytes this boot runs. */
import { fileURLToPath } from 'node:url';
import { type FolderHash, hashFolder } from './folder-hash.ts';

/** The folder of the built server that this very module runs from: `dist/`, or `src/` under a test runner. */
export const serverFolder = fileURLToPath(new URL('../../', import.meta.url)).replace(/[\\/]$/, '');

/**
 * The hash behind `server_source_sha256`. Call it once at boot and keep the result: hashing again later would
 * describe files that are not the ones running.
 */
export function hashServerSource(folder: string = serverFolder): Promise<FolderHash> {
  return hashFolder(folder);
}
