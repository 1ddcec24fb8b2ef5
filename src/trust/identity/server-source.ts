/** Identity of this boot's server bytes. */
import { builtFolder } from '../../lib/base/package-folder.ts';
import { type FolderHash, hashFolder } from './folder-hash.ts';

/**
 * The hash behind `server_source_sha256`. Call it once at boot and keep the result: hashing again later would
 * describe files that are not the ones running.
 */
export function hashServerSource(folder: string = builtFolder): Promise<FolderHash> {
  return hashFolder(folder);
}
