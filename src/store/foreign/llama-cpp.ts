/** Files that llama.cpp downloaded before it shared the Hugging Face cache, and plain folders of GGUF files. */
import { dirname, join, relative } from 'node:path';
import type { Candidate } from '../install/import.ts';
import { toModelId } from '../files/model-id.ts';
import { envPath } from '../../lib/files/env-path.ts';
import {
  existingFolder,
  type ForeignEnvironment,
  type ForeignScan,
  groupModels,
  type ModelGroup,
  ScanNotes,
} from './foreign-store.ts';

export async function scanLlamaCpp(environment: ForeignEnvironment): Promise<ForeignScan> {
  return scanFlat('llama.cpp', llamaCppFolder(environment), 0);
}

export async function scanFolder(folder: string): Promise<ForeignScan> {
  return scanFlat('folder', folder, 2);
}

async function scanFlat(store: 'llama.cpp' | 'folder', path: string, depth: number): Promise<ForeignScan> {
  const notes = new ScanNotes();
  const root = await existingFolder(path, notes);
  if (root === null) return { store, roots: [], candidates: [], problems: notes.problems };
  const groups = groupModels(await notes.modelFiles(root, depth), notes);
  const candidates = groups.flatMap((group) => toCandidate(store, root, group) ?? []);
  return { store, roots: [root], candidates, problems: notes.problems };
}

function toCandidate(store: 'llama.cpp' | 'folder', root: string, group: ModelGroup): Candidate | null {
  const [first = ''] = group.paths;
  const id = toModelId(group.stem);
  if (id === null) return null;
  const isOwn = store === 'folder';
  return {
    id,
    aliases: [group.stem],
    source: { type: isOwn ? 'file' : 'llama.cpp', ref: isOwn ? first : relative(root, first) },
    ownedBy: isOwn ? 'local' : 'llama.cpp',
    params: {},
    files: group.paths.map((path) => ({ path })),
    // Links in the user's own folder may lead anywhere, because the user made them.
    ...(isOwn ? {} : { within: dirname(first) }),
  };
}

function llamaCppFolder({ env, userHome, platform }: ForeignEnvironment): string {
  const configured = envPath(env['LLAMA_CACHE'], userHome);
  if (configured !== undefined) return configured;
  if (platform === 'darwin') return join(userHome, 'Library', 'Caches', 'llama.cpp');
  const local = envPath(env['LOCALAPPDATA'], userHome);
  if (platform === 'win32') return join(local ?? join(userHome, 'AppData', 'Local'), 'llama.cpp');
  return join(envPath(env['XDG_CACHE_HOME'], userHome) ?? join(userHome, '.cache'), 'llama.cpp');
}
