/**
 * store/install owns how a model gets into the store, and every later change of it. It does not know where files come
 * from: hubs and other programs' stores bring candidates. Nothing is installed unchecked. This file: local files by
 * reference (the default, copying nothing), by copy, or by hard link. Order: plain file → gate → width → digest →
 * probe → commit; nothing is written before the last.
 */
import { rm } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { fail, isFailure, errorReason } from '../../lib/errors/svc-error.ts';
import { SNIFF_BYTES, whyNotGguf } from '../../../packages/gguf/src/gate/recognise.ts';
import { commitModel } from './changes.ts';
import { type FileStamp, openPlainFile, unusable } from '../../lib/files/plain-file.ts';
import { type Inspect, type Inspection, inspectModel, inspectProjector, type Probe } from './inspection.ts';
import type { OnInstallEvent } from './install-event.ts';
import {
  knownDigest,
  isBlobFile,
  type ModelFile,
  type ModelParams,
  type ModelSource,
} from '../files/manifest.ts';
import { checkModelId, toModelId } from '../files/model-id.ts';
import { type CheckedFile, placeFiles, totalBytes } from './place-files.ts';
import type { InstalledModel, Registry } from '../registry/registry.ts';
import { modelStem, parseShardName, shardNames } from './shards.ts';
import { type SignatureGate, signedHere } from './signature-gate.ts';

export interface ImportOptions {
  readonly id?: string;
  readonly copy?: boolean;
  readonly hardLink?: boolean;
  readonly inspect?: Inspect;
  readonly projector?: string;
  readonly probe?: Probe;
  readonly signatures?: SignatureGate | undefined;
  readonly onEvent?: OnInstallEvent;
  readonly signal?: AbortSignal;
}

export interface Candidate {
  readonly id: string;
  readonly aliases: readonly string[];
  readonly source: ModelSource;
  readonly ownedBy: string;
  readonly params: ModelParams;
  readonly files: readonly CandidateFile[];
  readonly projector?: CandidateFile;
  /** The real files must be in this folder; absent if the user named the file. */
  readonly within?: string;
}

export interface CandidateFile {
  readonly path: string;
  readonly statedSha256?: string;
}

export async function importFile(
  registry: Registry,
  path: string,
  options: ImportOptions,
): Promise<InstalledModel> {
  const files = shardPaths(resolve(path)).map((shard) => ({ path: shard }));
  const stem = modelStem(basename(path));
  const id = options.id === undefined ? toModelId(stem) : checkModelId(options.id);
  if (id === null) {
    throw fail('model_id_invalid', {
      id: stem,
      param: 'id',
      reason: 'no id can be derived from the file name; give one with --id',
    });
  }
  return installCandidate(
    registry,
    {
      id,
      aliases: options.id === undefined ? [stem] : [],
      source: { type: 'file', ref: resolve(path) },
      ownedBy: 'local',
      params: {},
      files,
      ...(options.projector === undefined ? {} : { projector: { path: resolve(options.projector) } }),
    },
    options,
  );
}

export async function installCandidate(
  registry: Registry,
  candidate: Candidate,
  options: ImportOptions,
): Promise<InstalledModel> {
  const [first, ...rest] = await checkFiles(candidate);
  const projector = await checkProjector(candidate, options);
  if (!first) throw unusable(candidate.source.ref, 'it has no file');
  options.onEvent?.({ status: 'inspecting', file: first.path });
  const inspection = await (options.inspect ?? inspectModel)([first, ...rest].map((file) => file.loadPath));
  if (projector !== null && inspection.kind !== 'chat')
    throw unusable(projector.file.path, `it is for a chat model, and this is an ${inspection.kind} model`);
  const files = [first, ...rest, ...(projector === null ? [] : [projector.file])];
  const stored = await placeFiles(registry, files, options);
  try {
    const keepFinding = await checkSigned(candidate.id, files, stored.files, options);
    await probe(first, inspection, options);
    options.onEvent?.({ status: 'writing manifest', id: candidate.id });
    const model = await commitModel(
      registry,
      `hearth import ${candidate.id}`,
      {
        schema: 1,
        id: candidate.id,
        aliases: [...candidate.aliases],
        kind: inspection.kind,
        ownedBy: candidate.ownedBy,
        source: candidate.source,
        files: stored.files,
        facts: {
          ...inspection.facts,
          sizeBytes: totalBytes([first, ...rest]),
          ...(projector === null ? {} : { projector: projector.facts }),
        },
        params: candidate.params,
        addedAt: new Date().toISOString(),
      },
      stored.blobs,
    );
    await keepFinding?.(model);
    options.onEvent?.({ status: 'success', id: model.id });
    return model;
  } finally {
    for (const blob of stored.blobs) await rm(blob.from, { force: true });
  }
}

async function checkSigned(
  id: string,
  files: readonly CheckedFile[],
  stored: readonly ModelFile[],
  { signatures: gate, onEvent }: ImportOptions,
): Promise<Awaited<ReturnType<SignatureGate['check']>> | undefined> {
  if (gate === undefined) return undefined;
  const { names, signatures } = await signedHere(files.map(({ path }) => resolve(path)));
  return gate.check({
    id,
    files: files.map(({ realPath }, at) => {
      const placed = stored[at];
      return {
        name: names[at] ?? '',
        path: realPath,
        sha256: (placed && knownDigest(placed)) ?? '',
        isComputed: placed !== undefined && (isBlobFile(placed) || placed.digestOrigin === 'computed'),
      };
    }),
    signatures,
    onEvent,
  });
}

async function probe(file: CheckedFile, inspection: Inspection, options: ImportOptions): Promise<void> {
  options.signal?.throwIfAborted();
  // An adapter cannot be loaded without its model; it is compared with that when it is attached.
  if (!options.probe || inspection.kind === 'adapter') return;
  options.onEvent?.({ status: 'probing', file: file.path });
  await options.probe({
    path: file.loadPath,
    shown: file.path,
    kind: inspection.kind,
    facts: inspection.facts,
  });
}

function shardPaths(path: string): string[] {
  const shard = parseShardName(basename(path));
  return shard ? shardNames(shard).map((name) => join(dirname(path), name)) : [path];
}

async function checkFiles(candidate: Candidate): Promise<CheckedFile[]> {
  const checked: CheckedFile[] = [];
  for (const file of candidate.files) checked.push(await checkFile(candidate, file, 'model'));
  return checked;
}

async function checkFile(
  candidate: Candidate,
  file: CandidateFile,
  role: CheckedFile['role'],
): Promise<CheckedFile> {
  const { path: realPath, stamp } = await recognise(file.path);
  if (candidate.within !== undefined && !isInside(candidate.within, realPath))
    throw unusable(file.path, 'it points outside the folder it was found in');
  const isShard = parseShardName(basename(file.path)) !== null;
  return { ...file, realPath, loadPath: isShard ? resolve(file.path) : realPath, stamp, role };
}

/** A projector that the user named must be usable; one found next to the model is left out if it is not. */
async function checkProjector(
  candidate: Candidate,
  { onEvent, projector: named }: ImportOptions,
): Promise<{
  readonly file: CheckedFile;
  readonly facts: Awaited<ReturnType<typeof inspectProjector>>;
} | null> {
  if (candidate.projector === undefined) return null;
  const { path } = candidate.projector;
  try {
    const file = await checkFile(candidate, candidate.projector, 'mmproj');
    onEvent?.({ status: 'inspecting', file: path });
    return { file, facts: await inspectProjector(file.loadPath) };
  } catch (error) {
    if (named !== undefined || !isFailure(error, 'gguf_invalid', 'file_unusable', 'file_not_found'))
      throw error;
    onEvent?.({ status: 'left out', file: path, reason: errorReason(error) });
    return null;
  }
}

/** Refuses a file of another format before anything of its header is read. */
async function recognise(path: string): Promise<{ path: string; stamp: FileStamp }> {
  const { file, ...found } = await openPlainFile(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(SNIFF_BYTES), 0, SNIFF_BYTES, 0);
    const reason = whyNotGguf(buffer.subarray(0, bytesRead));
    if (reason !== null) throw unusable(path, reason);
    return found;
  } finally {
    await file.close();
  }
}

export function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
