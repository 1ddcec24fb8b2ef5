/**
 * GGUF files in the cache of the Hugging Face tools, which llama.cpp shares. The scanner of @huggingface/hub is not
 * used, because it gives up on a repository with one broken link or without refs.
 */
import { basename, join } from 'node:path';
import { type Candidate, isInside } from '../install/import.ts';
import { toModelId } from '../files/model-id.ts';
import { isDigest } from '../files/paths.ts';
import { quantLabel } from '../install/quant-label.ts';
import { envPath } from '../../lib/files/env-path.ts';
import {
  existingFolder,
  type ForeignEnvironment,
  type ForeignScan,
  groupModels,
  ScanNotes,
} from './foreign-store.ts';

const COMMIT = /^[0-9a-f]{40}$/;
/** `models--org--repo`; names never contain a double separator. */
const REPO_FOLDER = /^models--(\w+(?:[.-]\w+)*)--(\w+(?:[.-]\w+)*)$/;

export async function scanHfCache(environment: ForeignEnvironment): Promise<ForeignScan> {
  const notes = new ScanNotes();
  const root = await existingFolder(hfCacheFolder(environment), notes);
  const candidates: Candidate[] = [];
  for (const entry of root === null ? [] : await notes.entries(root)) {
    const [, owner, repo] = REPO_FOLDER.exec(entry.name) ?? [];
    if (root !== null && owner !== undefined && repo !== undefined && entry.isDirectory())
      candidates.push(...(await scanRepository(join(root, entry.name), `${owner}/${repo}`, notes)));
  }
  return { store: 'hf', roots: root === null ? [] : [root], candidates, problems: notes.problems };
}

export function hfCacheFolder({ env, userHome }: ForeignEnvironment): string {
  const folder = (name: string) => envPath(env[name], userHome);
  const hfHome =
    folder('HF_HOME') ?? join(folder('XDG_CACHE_HOME') ?? join(userHome, '.cache'), 'huggingface');
  return folder('HF_HUB_CACHE') ?? folder('HUGGINGFACE_HUB_CACHE') ?? join(hfHome, 'hub');
}

async function scanRepository(folder: string, repo: string, notes: ScanNotes): Promise<Candidate[]> {
  const commit = await currentCommit(folder, notes);
  if (commit === null) return [];
  const snapshot = join(folder, 'snapshots', commit);
  const usable = new Map<string, string>();
  for (const path of await notes.modelFiles(snapshot)) {
    const real = await notes.contained(folder, path, isInside);
    if (real !== null) usable.set(path, real);
  }
  const projector = await notes.projectorIn(snapshot);
  return groupModels([...usable.keys()], notes).flatMap((group) => {
    const label = quantLabel(basename(group.paths[0] ?? ''));
    const shown = `${repo}:${label ?? group.stem}`;
    const id = toModelId(shown);
    if (id === null) return [];
    return {
      id,
      aliases: [shown],
      source: { type: 'hf', ref: shown, repo, commit },
      ownedBy: `hf:${repo.split('/')[0]}`,
      params: {},
      ...projector,
      files: group.paths.map((path) => {
        // The blob of a large file is named by its SHA-256, that of a small one by a git hash.
        const blob = basename(usable.get(path) ?? '');
        return { path, ...(isDigest(blob) ? { statedSha256: blob } : {}) };
      }),
      within: folder,
    };
  });
}

/** The target of `main`, else any branch, else the last snapshot by name. */
async function currentCommit(folder: string, notes: ScanNotes): Promise<string | null> {
  const refs = join(folder, 'refs');
  const names = (await notes.entries(refs)).filter((entry) => entry.isFile()).map((entry) => entry.name);
  const preferred = [...names.filter((name) => name === 'main'), ...names.filter((name) => name !== 'main')];
  for (const name of preferred) {
    const commit = (await notes.text(join(refs, name), 128))?.trim();
    if (commit !== undefined && COMMIT.test(commit)) return commit;
  }
  const snapshots = (await notes.entries(join(folder, 'snapshots'))).map((entry) => entry.name);
  return snapshots.findLast((name) => COMMIT.test(name)) ?? null;
}
