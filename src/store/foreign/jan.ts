/** Models of Jan: one `model.yml` per model in its data folder, with the path of the file. */
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { Type } from 'typebox';
import { Check } from 'typebox/value';
import { parse as parseYaml } from 'yaml';
import type { Candidate } from '../install/import.ts';
import { toModelId } from '../files/model-id.ts';
import { envPath } from '../../lib/files/env-path.ts';
import { existingFolder, type ForeignEnvironment, type ForeignScan, ScanNotes } from './foreign-store.ts';

const ModelYaml = Type.Object({
  model_path: Type.String({ minLength: 1, maxLength: 4096 }),
  mmproj_path: Type.Optional(Type.String({ minLength: 1, maxLength: 4096 })),
  model_sha256: Type.Optional(Type.String({ pattern: '^[0-9a-fA-F]{64}$' })),
});
const Settings = Type.Object({ data_folder: Type.String({ minLength: 1 }) });
const MAX_FILE_BYTES = 256 * 1024;
const MAX_DEPTH = 4;

export async function scanJan(environment: ForeignEnvironment): Promise<ForeignScan> {
  const notes = new ScanNotes();
  const root = await existingFolder(await janDataFolder(environment), notes);
  const models = root === null ? '' : join(root, 'llamacpp', 'models');
  const candidates: Candidate[] = [];
  for (const folder of root === null ? [] : await modelFolders(models, notes, MAX_DEPTH)) {
    const candidate = await readModel(root ?? '', models, folder, notes);
    if (candidate) candidates.push(candidate);
  }
  return { store: 'jan', roots: root === null ? [] : [root], candidates, problems: notes.problems };
}

async function modelFolders(folder: string, notes: ScanNotes, depth: number): Promise<string[]> {
  const entries = await notes.entries(folder);
  if (entries.some((entry) => entry.name === 'model.yml' && entry.isFile())) return [folder];
  const found: string[] = [];
  for (const entry of entries) {
    if (entry.isDirectory() && depth > 0)
      found.push(...(await modelFolders(join(folder, entry.name), notes, depth - 1)));
  }
  return found;
}

async function readModel(
  root: string,
  models: string,
  folder: string,
  notes: ScanNotes,
): Promise<Candidate | null> {
  const path = join(folder, 'model.yml');
  const text = await notes.text(path, MAX_FILE_BYTES);
  const yaml = text === null ? null : parse(text);
  if (text !== null && !Check(ModelYaml, yaml)) notes.add(path, 'it names no model file');
  const shown = relative(models, folder).split(sep).join('/');
  const id = toModelId(shown);
  if (!Check(ModelYaml, yaml) || id === null) return null;
  // Jan uses absolute paths for files that the user imported, so these are trusted.
  const isLinked = isAbsolute(yaml.model_path);
  return {
    id,
    aliases: [shown],
    source: { type: 'jan', ref: shown },
    ownedBy: 'jan',
    params: {},
    files: [
      {
        path: resolve(root, yaml.model_path),
        ...(yaml.model_sha256 === undefined ? {} : { statedSha256: yaml.model_sha256.toLowerCase() }),
      },
    ],
    ...(yaml.mmproj_path === undefined ? {} : { projector: { path: resolve(root, yaml.mmproj_path) } }),
    ...(isLinked ? {} : { within: root }),
  };
}

function parse(text: string): unknown {
  try {
    // No aliases: a few lines of them can expand to gigabytes.
    return parseYaml(text, { maxAliasCount: 0 });
  } catch {
    return null;
  }
}

async function janDataFolder(environment: ForeignEnvironment): Promise<string> {
  const { env, userHome } = environment;
  const configured = envPath(env['JAN_DATA_FOLDER'], userHome);
  if (configured !== undefined) return configured;
  const base = join(envPath(env['JAN_DATA_ROOT'], userHome) ?? appFolder(environment), 'Jan');
  const text = await new ScanNotes().text(join(base, 'settings.json'), MAX_FILE_BYTES);
  const settings = text === null ? null : parse(text);
  return Check(Settings, settings) ? settings.data_folder : join(base, 'data');
}

function appFolder({ env, userHome, platform }: ForeignEnvironment): string {
  if (platform === 'darwin') return join(userHome, 'Library', 'Application Support');
  if (platform === 'win32') return envPath(env['APPDATA'], userHome) ?? join(userHome, 'AppData', 'Roaming');
  return envPath(env['XDG_DATA_HOME'], userHome) ?? join(userHome, '.local', 'share');
}
