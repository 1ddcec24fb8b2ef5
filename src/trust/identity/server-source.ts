import { builtFolder } from '../../lib/base/package-folder.ts';
import { type FolderHash, hashFolder } from './folder-hash.ts';

/**
 * The hash for `server_source_sha256`. Call it once at boot and keep the result: a later hash would describe files
 * that are not the running ones.
 */
export function hashServerSource(folder: string = builtFolder): Promise<FolderHash> {
  return hashFolder(folder);
}
