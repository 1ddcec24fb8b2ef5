/**
 * store/hub owns pulls: references, allowed addresses, and downloads that resume. It knows nothing of other programs'
 * stores, and trusts nothing from a hub until a digest or the gate confirms it. This file: reference → commit → files
 * → space → download → gate → probe → commit to the store. All but the last step happen in partial/, and running the
 * same command again continues it.
 */
import { rm } from 'node:fs/promises';
import { EventQueue } from '../../lib/base/event-queue.ts';
import { fail, isFailure, errorReason } from '../../lib/errors/svc-error.ts';
import { type FileStamp, stampFile, unusable } from '../../lib/files/plain-file.ts';
import { type BlobFile, blobStamp, type ModelFacts } from '../files/manifest.ts';
import { checkModelId, toModelId } from '../files/model-id.ts';
import { commitModel, type PendingBlob } from '../install/changes.ts';
import {
  type Inspect,
  type Inspection,
  inspectModel,
  inspectProjector,
  type Probe,
} from '../install/inspection.ts';
import type { InstallEvent } from '../install/install-event.ts';
import { shardNames } from '../install/shards.ts';
import {
  readSignatures,
  type SignatureGate,
  type SignaturePlace,
  signaturePlaces,
} from '../install/signature-gate.ts';
import type { InstalledModel, Registry } from '../registry/registry.ts';
import { type AccessOptions, openAccess } from './access.ts';
import {
  type FetchedFile,
  fetchFiles,
  fetchSmall,
  type FilesToFetch,
  type PullContext,
  withFileLocks,
} from './fetch-files.ts';
import { type ChosenModel, chooseFiles } from './file-choice.ts';
import { type HubReference, parseReference } from './reference.ts';
import { listRepository, type RepositoryFile, resolveCommit } from './repository.ts';
import { type RetryPolicy, USUAL_RETRIES, withRetries } from './retry.ts';
import { inspectStaged } from './stage.ts';

export interface PullOptions extends AccessOptions {
  readonly id?: string;
  readonly offline?: boolean;
  readonly inspect?: Inspect;
  readonly probe?: Probe;
  readonly signatures?: SignatureGate | undefined;
  readonly signal?: AbortSignal;
  readonly retries?: RetryPolicy;
}

interface PullPlan extends FilesToFetch {
  readonly id: string;
  readonly aliases: readonly string[];
  readonly names: readonly string[];
  readonly signatures: readonly PlannedSignature[];
}

type PlannedSignature = SignaturePlace & { readonly file: RepositoryFile };

/** The projector comes last, and `names` has no entry for it. */
const isWeights = ({ names }: Pick<PullPlan, 'names'>, position: number): boolean => position < names.length;

/** The last event is `success`; failures are thrown, and leaving the iteration early aborts the pull. */
export function pullModel(
  registry: Registry,
  ref: string,
  options: PullOptions = {},
): AsyncIterable<InstallEvent> {
  const abandoned = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, abandoned.signal]) : abandoned.signal;
  const queue = new EventQueue<InstallEvent>(() => abandoned.abort());
  const pull: PullContext = {
    registry,
    access: openAccess(options),
    ref,
    retries: options.retries ?? USUAL_RETRIES,
    signal,
    onEvent: (event) => queue.push(event),
  };
  runPull(pull, options).then(
    () => queue.end(),
    (error: unknown) => queue.fail(error),
  );
  return queue;
}

async function runPull(pull: PullContext, options: PullOptions): Promise<void> {
  const { registry, onEvent, ref } = pull;
  const reference = parseReference(ref, pull.access.endpoint.href);
  if (options.id !== undefined) checkModelId(options.id);
  if (options.offline) throw fail('hub_offline', { param: 'ref' });
  onEvent({ status: 'resolving', ref });
  const plan = await makePlan(pull, reference, options.id);
  const { repo, commit, files } = plan;
  onEvent({ status: 'resolved', repo, commit, files: files.map(({ path }) => path) });
  options.signatures?.expect(plan.id, plan.signatures);
  await registry.store.prepareFolders();
  // Held until the model is committed, so that no other pull works on the same files.
  const model = await withFileLocks(pull, files, async () => {
    const fetched = await fetchFiles(pull, plan);
    const keepFinding = await checkSigned(pull, plan, fetched, options);
    const installed = await install(pull, plan, fetched, await inspect(pull, plan, fetched, options));
    await keepFinding?.(installed);
    return installed;
  });
  onEvent({ status: 'success', id: model.id });
}

function makePlan(pull: PullContext, reference: HubReference, id: string | undefined): Promise<PullPlan> {
  const { access, retries, signal, onEvent } = pull;
  const { repo, revision } = reference;
  return withRetries(retries, { signal, onEvent, isFirstContact: true }, async () => {
    const commit = await resolveCommit(access, repo, revision, signal);
    const listed = await listRepository(access, repo, commit, signal);
    const chosen = chooseFiles(reference, listed);
    const weights = chosen.files;
    const files = chosen.projector === null ? weights : [...weights, chosen.projector];
    const unknown = files.find((file) => file.sha256 === null && file.gitSha1 === null);
    if (unknown) {
      const endpoint = access.endpoint.origin;
      throw fail('hub_invalid', { endpoint, reason: `no digest for ${unknown.path}` });
    }
    const names =
      weights.length > 1 ? shardNames({ prefix: 'model', index: 1, count: weights.length }) : ['model.gguf'];
    const signatures = signaturePlaces(files.map(({ path }) => path)).flatMap((place) => {
      const file = listed.find(({ path }) => path === place.name);
      return file === undefined ? [] : [{ ...place, file }];
    });
    return { repo, commit, files, names, signatures, ...chooseNames(reference, chosen, id) };
  });
}

async function checkSigned(
  pull: PullContext,
  { id, repo, commit, files, signatures }: PullPlan,
  fetched: readonly FetchedFile[],
  { signatures: gate }: PullOptions,
): Promise<Awaited<ReturnType<SignatureGate['check']>> | undefined> {
  if (gate === undefined) return undefined;
  return gate.check({
    id,
    files: fetched.map(({ path, digest }, at) => ({
      name: files[at]?.path ?? '',
      path,
      sha256: digest,
      isComputed: true,
    })),
    signatures: await readSignatures(signatures, ({ file }, mostBytes) =>
      fetchSmall(pull, { repo, commit, file }, mostBytes),
    ),
    onEvent: pull.onEvent,
  });
}

function chooseNames(
  reference: HubReference,
  chosen: ChosenModel,
  wantedId: string | undefined,
): Pick<PullPlan, 'id' | 'aliases'> {
  const shown = `${reference.repo}:${chosen.label}`;
  const isUsualChoice = reference.quant === null && reference.path === null;
  const aliases = isUsualChoice ? [shown, reference.repo] : [shown];
  const id = wantedId ?? toModelId(shown);
  if (id === null) throw fail('model_id_invalid', { id: shown, param: 'id', reason: 'give one with --id' });
  return { id, aliases };
}

/** Removes a file that can never be used, which a resumed pull would only refuse again. */
async function inspect(
  pull: PullContext,
  plan: PullPlan,
  fetched: readonly FetchedFile[],
  options: PullOptions,
): Promise<Inspection> {
  try {
    return await inspectStaged(pull.registry.store.paths.partial, {
      files: plan.names.map((name, position) => ({ path: fetched[position]?.path ?? '', name })),
      shown: plan.files[0]?.path ?? '',
      inspect: options.inspect ?? inspectModel,
      probe: options.probe,
      onEvent: pull.onEvent,
    });
  } catch (error) {
    if (isFailure(error, 'gguf_invalid', 'file_unusable'))
      for (const file of fetched) if (!file.isPresent) await rm(file.path, { force: true });
    throw error;
  }
}

async function install(
  pull: PullContext,
  plan: PullPlan,
  all: readonly FetchedFile[],
  inspection: Inspection,
): Promise<InstalledModel> {
  const { id, repo, commit } = plan;
  const ref = pull.ref.trim();
  const projector = await projectorFacts(pull, plan, all);
  const fetched = 'projector' in projector ? all : all.slice(0, plan.names.length);
  const files = await blobFiles(plan, fetched);
  pull.onEvent({ status: 'writing manifest', id });
  return commitModel(
    pull.registry,
    `hearth pull ${pull.ref}`,
    {
      schema: 1,
      id,
      aliases: [...plan.aliases],
      kind: inspection.kind,
      ownedBy: `hf:${repo.split('/')[0]}`,
      source: { type: 'hf', ref, repo, commit, endpoint: pull.access.endpoint.origin },
      files,
      facts: {
        ...inspection.facts,
        sizeBytes: files.reduce((sum, file) => sum + (file.role === 'model' ? file.sizeBytes : 0), 0),
        ...projector,
      },
      params: {},
      addedAt: new Date().toISOString(),
    },
    pendingBlobs(fetched),
  );
}

/** Leaves out an unusable projector, because the model works without it. */
async function projectorFacts(
  { onEvent }: PullContext,
  { names, files }: PullPlan,
  fetched: readonly FetchedFile[],
): Promise<Pick<ModelFacts, 'projector'>> {
  const projector = fetched[names.length];
  if (projector === undefined) return {};
  try {
    return { projector: await inspectProjector(projector.path) };
  } catch (error) {
    if (!isFailure(error, 'gguf_invalid', 'file_unusable')) throw error;
    if (!projector.isPresent) await rm(projector.path, { force: true });
    onEvent({ status: 'left out', file: files.at(-1)?.path ?? '', reason: errorReason(error) });
    return {};
  }
}

async function blobFiles(plan: PullPlan, fetched: readonly FetchedFile[]): Promise<BlobFile[]> {
  const files: BlobFile[] = [];
  for (const [position, file] of fetched.entries()) {
    files.push({
      role: isWeights(plan, position) ? 'model' : 'mmproj',
      digest: file.digest,
      ...blobStamp(await stampFetched(file)),
      ...(plan.names.length > 1 && isWeights(plan, position) ? { name: plan.names[position] ?? '' } : {}),
    });
  }
  return files;
}

function pendingBlobs(fetched: readonly FetchedFile[]): PendingBlob[] {
  const missing = new Map(fetched.filter((file) => !file.isPresent).map((file) => [file.digest, file.path]));
  return [...missing].map(([digest, from]) => ({ from, digest }));
}

/** A blob that existed when the pull began may have been removed with another model since. */
async function stampFetched(file: FetchedFile): Promise<FileStamp> {
  return stampFile(file.path).catch((error: unknown) => {
    throw file.isPresent ? unusable(file.path, 'another process removed it; run the command again') : error;
  });
}
