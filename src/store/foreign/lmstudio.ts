/** Models of LM Studio: `models/<publisher>/<model>/*.gguf`, in a folder that its settings may move. */
import { basename, join } from 'node:path';
import { Type } from 'typebox';
import { Check } from 'typebox/value';
import { parseJson } from '../../lib/base/json.ts';
import type { Candidate } from '../install/import.ts';
import { toModelId } from '../files/model-id.ts';
import { quantLabel } from '../install/quant-label.ts';
import {
  existingFolder,
  type ForeignEnvironment,
  type ForeignScan,
  groupModels,
  ScanNotes,
} from './foreign-store.ts';

const Settings = Type.Object({ downloadsFolder: Type.String({ minLength: 1 }) });
const MAX_SETTINGS_BYTES = 256 * 1024;

export async function scanLmStudio(environment: ForeignEnvironment): Promise<ForeignScan> {
  const notes = new ScanNotes();
  const home = await lmStudioHome(environment, notes);
  const root = await existingFolder(await modelsFolder(home, notes), notes);
  const candidates: Candidate[] = [];
  if (root !== null) {
    for (const publisher of await folders(root, notes)) {
      for (const model of await folders(join(root, publisher), notes))
        candidates.push(...(await scanModel(root, publisher, model, notes)));
    }
  }
  return { store: 'lmstudio', roots: root === null ? [] : [root], candidates, problems: notes.problems };
}

async function scanModel(
  root: string,
  publisher: string,
  model: string,
  notes: ScanNotes,
): Promise<Candidate[]> {
  const folder = join(root, publisher, model);
  const groups = groupModels(await notes.modelFiles(folder, 0), notes);
  const projector = await notes.projectorIn(folder);
  return groups.flatMap((group) => {
    const label = quantLabel(basename(group.paths[0] ?? '')) ?? group.stem;
    const shown = groups.length > 1 ? `${publisher}/${model}:${label}` : `${publisher}/${model}`;
    const id = toModelId(shown);
    if (id === null) return [];
    return {
      id,
      aliases: [shown],
      source: { type: 'lmstudio', ref: shown },
      ownedBy: 'lmstudio',
      params: {},
      files: group.paths.map((path) => ({ path })),
      ...projector,
      within: root,
    };
  });
}

async function folders(folder: string, notes: ScanNotes): Promise<string[]> {
  return (await notes.entries(folder)).filter((entry) => entry.isDirectory()).map((entry) => entry.name);
}

async function lmStudioHome({ userHome }: ForeignEnvironment, notes: ScanNotes): Promise<string> {
  const pointer = (await notes.optionalText(join(userHome, '.lmstudio-home-pointer'), 4096))
    ?.split('\n')[0]
    ?.trim();
  if (pointer) return pointer;
  const older = join(userHome, '.cache', 'lm-studio');
  return (await existingFolder(older, notes)) ?? join(userHome, '.lmstudio');
}

async function modelsFolder(home: string, notes: ScanNotes): Promise<string> {
  const file = join(home, 'settings.json');
  const settings = parseJson((await notes.optionalText(file, MAX_SETTINGS_BYTES)) ?? '{}');
  if (settings === undefined) notes.add(file, 'it is not JSON, so the usual folder was searched');
  return Check(Settings, settings) ? settings.downloadsFolder : join(home, 'models');
}
