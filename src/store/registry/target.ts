import { kvShare } from '../../contract/settings/kv-types.ts';
import { pickSettings } from '../../contract/settings/shapes.ts';
import { type LocalTarget, localTarget } from '../../server/engine/local/model-source.ts';
import { fail, isFailure, errorMessage } from '../../lib/errors/svc-error.ts';
import { isEncoder } from '../../../packages/gguf/src/gate/architectures.ts';
import { type FileStamp, sameStamp, stampFile } from '../../lib/files/plain-file.ts';
import {
  knownDigest,
  isBlobFile,
  loadedFiles,
  acceptedMedia,
  type ModelFile,
  type ModelManifest,
  modelFiles,
  projectorFile,
  type ServedManifest,
} from '../files/manifest.ts';
import { type Companion, type Companions, listed, NO_COMPANIONS } from './companions.ts';
import type { FileStates } from './file-states.ts';
import { filePath, type StorePaths } from '../files/paths.ts';
import { loadPath, readyLoadPath } from '../files/shard-links.ts';

export interface TargetOptions {
  readonly numCtx?: number | null;
  readonly numThreads?: number | null;
  readonly companions?: Companions;
}

export function makeTarget(
  paths: StorePaths,
  states: FileStates,
  model: ServedManifest,
  options: TargetOptions,
): LocalTarget {
  const [first] = modelFiles(model);
  if (!first)
    throw fail('model_damaged', { model: model.id, param: 'model', reason: 'it names no model file' });
  const trained = largestWindow(model);
  const { companions = NO_COMPANIONS } = options;
  const files = [model, ...listed(companions).flatMap((companion) => companion.model ?? [])];
  // Vectors are computed over whole inputs, so only chat models leave the window to the plan.
  const wanted = model.params.numCtx ?? options.numCtx ?? (model.kind === 'chat' ? null : trained);
  return localTarget(
    {
      modelId: model.id,
      kind: model.kind,
      ranks: model.facts.pooling === 'rank',
      media: acceptedMedia(model),
      trainedCtx: trained,
      defaultCtx: wanted === null ? null : Math.min(trained, wanted),
      ...(model.params.privacy === undefined ? {} : { farthest: model.params.privacy }),
    },
    {
      path: loadPath(paths, model, first),
      digest: knownDigest(first),
      threads: model.params.threads ?? options.numThreads ?? null,
      weightsBytes: files.flatMap(loadedFiles).reduce((sum, file) => sum + file.sizeBytes, 0),
      kvBytesPerToken: Math.ceil(kvBytesPerToken(files) * kvShare(model.params)),
      settings: pickSettings(model.params),
      experts: model.facts.experts ?? null,
      attached: { ...attachedFiles(paths, companions), ...targetProjector(paths, model) },
      verify: async () => {
        refuseMissing(model, companions);
        for (const each of files)
          for (const file of loadedFiles(each)) await verifyFile(paths, states, each, file);
      },
    },
  );
}

/** A draft model has its own KV cache; an encoder reads a text in one step and has none. */
const kvBytesPerToken = (files: readonly ModelManifest[]): number =>
  files.reduce((sum, { facts }) => sum + (isEncoder(facts.architecture) ? 0 : facts.kvBytesPerToken), 0);

function attachedFiles(
  paths: StorePaths,
  { adapters, draft }: Companions,
): LocalTarget['source']['attached'] {
  const opened = ({ name, model }: Companion) => {
    const [first] = model === null ? [] : modelFiles(model);
    return model === null || first === undefined ? [] : [{ name, path: loadPath(paths, model, first) }];
  };
  return {
    adapters: adapters.flatMap(opened),
    draft: draft === null ? null : (opened(draft)[0] ?? null),
  };
}

function targetProjector(
  paths: StorePaths,
  model: ModelManifest,
): Pick<LocalTarget['source']['attached'], 'projector'> {
  const file = projectorFile(model);
  return file === null
    ? {}
    : { projector: { path: loadPath(paths, model, file), digest: knownDigest(file) } };
}

function refuseMissing({ id }: ModelManifest, companions: Companions): void {
  const missing = listed(companions).find(({ model }) => model === null);
  if (missing === undefined) return;
  throw fail('load_setting_unusable', {
    model: id,
    setting: missing.wire,
    reason: `${missing.name} is not installed`,
  });
}

/** Warns that the window in the settings exceeds the model's; otherwise null. */
export function reducedWindow(
  model: ModelManifest,
): { readonly numCtx: number; readonly note: string } | null {
  const { numCtx } = model.params;
  const largest = largestWindow(model);
  if (numCtx === undefined || numCtx <= largest || model.kind === 'adapter') return null;
  const note = `The window will be ${inWords(largest)} tokens and not ${inWords(numCtx)}: that is the longest context ${model.id} was trained for.`;
  return { numCtx: largest, note };
}

const inWords = (count: number): string => count.toLocaleString('en-US');

/** Scaled positions reach beyond the trained window: by their factor, or to an explicit num_ctx. */
function largestWindow({ facts, params }: ModelManifest): number {
  const {
    ropeScaling,
    ropeFreqBase,
    ropeFreqScale = 1,
    yarnOrigCtx = facts.contextLength,
    numCtx = 0,
  } = params;
  const isScaled = ropeFreqBase !== undefined || ropeFreqScale < 1 || (ropeScaling ?? 'none') !== 'none';
  if (!isScaled) return facts.contextLength;
  return Math.max(facts.contextLength, Math.floor(yarnOrigCtx / Math.min(1, ropeFreqScale)), numCtx);
}

async function verifyFile(
  paths: StorePaths,
  states: FileStates,
  model: ModelManifest,
  file: ModelFile,
): Promise<void> {
  const damaged = (reason: string, cause?: unknown) =>
    fail('model_damaged', { model: model.id, param: 'model', reason }, cause);
  const path = filePath(paths, file);
  let stamp: FileStamp;
  try {
    stamp = await stampFile(path);
  } catch (error) {
    throw damaged(whyGone(model, error), error);
  }
  if (stamp.sizeBytes !== file.sizeBytes)
    throw damaged(`its file has ${stamp.sizeBytes} bytes instead of ${file.sizeBytes}`);
  const expected = knownDigest(file);
  if (!sameStamp(stamp, file)) {
    if (expected === null) throw damaged('its file was modified and no digest of it is known');
    const found = await states.digest(path);
    if (found === null) throw damaged('its file is being changed');
    if (found.sha256 !== expected) throw damaged('the digest of its file differs');
    ({ stamp } = found);
  } else if (expected !== null && isHashedState(file)) {
    states.knows(path, stamp, expected);
  }
  await readyLoadPath(paths, model, file);
  // Making a link changes the state.
  states.loads(path, isBlobFile(file) ? await stampFile(path) : stamp, expected);
}

/** True if this state's bytes were hashed here; a blob's state changes with its links. */
const isHashedState = (file: ModelFile): boolean =>
  !isBlobFile(file) && file.ctimeNs !== undefined && file.digestOrigin === 'computed';

function whyGone(model: ModelManifest, error: unknown): string {
  if (!isFailure(error, 'file_not_found')) return errorMessage(error);
  const owner = model.source.type === 'file' || model.source.type === 'hf' ? null : model.source.type;
  return owner === null ? 'its file is gone' : `its file is gone, perhaps removed by ${owner}`;
}
