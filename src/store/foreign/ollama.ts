/** Models of Ollama: JSON manifests four levels deep, naming blobs by digest. */
import { parseJson } from '../../lib/base/json.ts';
import { sharedParamNames } from '../registry/param-names.ts';
import { join } from 'node:path';
import { type Static, Type } from 'typebox';
import { Check } from 'typebox/value';
import type { Candidate, CandidateFile } from '../install/import.ts';
import { ModelParams } from '../files/manifest.ts';
import { toModelId } from '../files/model-id.ts';
import { envPath } from '../../lib/files/env-path.ts';
import { existingFolder, type ForeignEnvironment, type ForeignScan, ScanNotes } from './foreign-store.ts';

const OllamaManifest = Type.Object({
  layers: Type.Array(
    Type.Object({ mediaType: Type.String(), digest: Type.String(), size: Type.Integer({ minimum: 0 }) }),
    { maxItems: 4096 },
  ),
});
type Layer = Static<typeof OllamaManifest>['layers'][number];

const LAYER = 'application/vnd.ollama.image.';
const DIGEST = /^sha256[:-]([0-9a-f]{64})$/i;
const PART = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,79}$/;
const HOST = /^[A-Za-z0-9_][A-Za-z0-9_.:-]{0,349}$/;
const MAX_MANIFEST_BYTES = 128 * 1024;
const MAX_PARAMS_BYTES = 64 * 1024;

export async function scanOllama(environment: ForeignEnvironment): Promise<ForeignScan> {
  const notes = new ScanNotes();
  const roots: string[] = [];
  const candidates: Candidate[] = [];
  for (const path of ollamaFolders(environment)) {
    const root = await existingFolder(path, notes);
    if (root === null || roots.includes(root)) continue;
    roots.push(root);
    for (const name of await manifestNames(root, notes)) {
      const candidate = await readModel(root, name, notes);
      if (candidate) candidates.push(candidate);
    }
  }
  return { store: 'ollama', roots, candidates, problems: notes.problems };
}

function ollamaFolders({ env, userHome, platform }: ForeignEnvironment): string[] {
  const configured = envPath(env['OLLAMA_MODELS'], userHome);
  if (configured !== undefined) return [configured];
  const own = join(userHome, '.ollama', 'models');
  // The Linux installer runs the service as its own user.
  return platform === 'linux' ? [own, '/usr/share/ollama/.ollama/models'] : [own];
}

interface OllamaName {
  readonly host: string;
  readonly namespace: string;
  readonly model: string;
  readonly tag: string;
}

async function manifestNames(root: string, notes: ScanNotes): Promise<OllamaName[]> {
  const names: OllamaName[] = [];
  const folder = join(root, 'manifests');
  for (const host of await subfolders(folder, HOST, notes)) {
    for (const namespace of await subfolders(join(folder, host), PART, notes)) {
      for (const model of await subfolders(join(folder, host, namespace), PART, notes)) {
        for (const tag of await notes.entries(join(folder, host, namespace, model)))
          if (tag.isFile() && PART.test(tag.name)) names.push({ host, namespace, model, tag: tag.name });
      }
    }
  }
  return names;
}

async function subfolders(folder: string, allowed: RegExp, notes: ScanNotes): Promise<string[]> {
  const entries = await notes.entries(folder);
  return entries
    .filter((entry) => entry.isDirectory() && allowed.test(entry.name))
    .map((entry) => entry.name);
}

async function readModel(root: string, name: OllamaName, notes: ScanNotes): Promise<Candidate | null> {
  const path = join(root, 'manifests', name.host, name.namespace, name.model, name.tag);
  const text = await notes.text(path, MAX_MANIFEST_BYTES);
  const manifest = text === null ? null : parseJson(text);
  if (text !== null && !Check(OllamaManifest, manifest)) notes.add(path, 'it is not an Ollama manifest');
  if (!Check(OllamaManifest, manifest)) return null;
  const files = weights(root, path, manifest.layers, notes);
  const shown = shownName(name);
  const id = toModelId(shown);
  if (files === null || id === null) return null;
  const [, projector] =
    DIGEST.exec(manifest.layers.find(({ mediaType }) => mediaType === `${LAYER}projector`)?.digest ?? '') ??
    [];
  return {
    ...(projector === undefined ? {} : { projector: blobFile(root, projector) }),
    id,
    aliases: [shown, `${name.model}:${name.tag}`],
    source: { type: 'ollama', ref: shown },
    ownedBy: 'ollama',
    params: await readParams(root, manifest.layers, notes),
    files,
    within: root,
  };
}

function weights(
  root: string,
  path: string,
  layers: readonly Layer[],
  notes: ScanNotes,
): CandidateFile[] | null {
  const refuse = (reason: string) => {
    notes.add(path, reason);
    return null;
  };
  if (layers.some((layer) => layer.mediaType === `${LAYER}adapter`))
    return refuse('it needs a LoRA adapter, which is not supported');
  if (layers.some((layer) => layer.mediaType === `${LAYER}tensor`)) return refuse('its weights are not GGUF');
  const models = layers.filter((layer) => layer.mediaType === `${LAYER}model`);
  const [, digest] = DIGEST.exec(models[0]?.digest ?? '') ?? [];
  if (models.length !== 1 || digest === undefined) return refuse('it names no GGUF weights');
  return [blobFile(root, digest)];
}

function blobFile(root: string, digest: string): CandidateFile {
  const sha256 = digest.toLowerCase();
  return { path: join(root, 'blobs', `sha256-${sha256}`), statedSha256: sha256 };
}

function shownName({ host, namespace, model, tag }: OllamaName): string {
  const isLibrary = namespace === 'library';
  const named = isLibrary || host === '' ? model : `${namespace}/${model}`;
  return tag === 'latest' ? named : `${named}:${tag}`;
}

async function readParams(root: string, layers: readonly Layer[], notes: ScanNotes): Promise<ModelParams> {
  const layer = layers.find((entry) => entry.mediaType === `${LAYER}params`);
  const [, digest] = DIGEST.exec(layer?.digest ?? '') ?? [];
  if (digest === undefined) return {};
  const file = join(root, 'blobs', `sha256-${digest.toLowerCase()}`);
  const text = await notes.text(file, MAX_PARAMS_BYTES);
  const value = text === null ? null : parseJson(text);
  if (value === undefined)
    notes.add(file, 'its parameters are not JSON, so the model is imported without them');
  if (typeof value !== 'object' || value === null) return {};
  const usable = Object.entries(value).flatMap(([key, entry]) => {
    const name = Object.hasOwn(sharedParamNames, key) ? sharedParamNames[key] : undefined;
    return name !== undefined && Check(ModelParams, { [name]: entry }) ? [[name, entry]] : [];
  });
  return Object.fromEntries(usable) as ModelParams;
}
