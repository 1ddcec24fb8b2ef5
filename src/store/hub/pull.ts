/**
 * store/hub owns pulls: what a reference means, which addresses may be asked, and downloads that resume. It knows nothing
 * of other programs' stores, and trusts nothing that a hub says until a digest or the gate confirms it.
 * This file: reference → commit → files → space → download → gate → probe → commit to the store.
 * Everything before the last step happens in partial/; the same command run again continues where the last one ended.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { EventQueue } from '../../lib/base/event-queue.ts';
import { fail, isFailure } from '../../lib/errors/svc-error.ts';
import { commitModel, type PendingBlob } from '../install/changes.ts';
import { requireSpace } from '../../lib/files/disk-space.ts';
import { type FileStamp, hashFile, stampFile, unusable } from '../../lib/files/plain-file.ts';
import { type Inspect, type Inspection, inspectModel, type Probe } from '../install/inspection.ts';
import type { InstallEvent, OnInstallEvent } from '../install/install-event.ts';
import type { BlobFile } from '../files/manifest.ts';
import { checkModelId, toModelId } from '../files/model-id.ts';
import { type OwnerLock, takeLock } from '../lock/owner-lock.ts';
import { blobPath, downloadPath } from '../files/paths.ts';
import type { InstalledModel, Registry } from '../registry/registry.ts';
import { shardNames } from '../install/shards.ts';
import { type AccessOptions, openAccess } from './access.ts';
import { downloadFile } from './download.ts';
import { type ChosenModel, chooseFiles } from './file-choice.ts';
import type { HubAccess } from './hub-request.ts';
import { type HubReference, parseReference } from './reference.ts';
import { listRepository, type RepositoryFile, resolveCommit } from './repository.ts';
import { type RetryPolicy, usualRetries, withRetries } from './retry.ts';
import { inspectStaged } from './stage.ts';

export interface PullOptions extends AccessOptions {
  readonly id?: string;
  readonly offline?: boolean;
  readonly inspect?: Inspect;
  readonly probe?: Probe;
  readonly signal?: AbortSignal;
  readonly retries?: RetryPolicy;
}

/** Pulls in the background of the iteration; the last event is `success`, a failure is thrown, leaving early aborts. */
export function pullModel(
  registry: Registry,
  ref: string,
  options: PullOptions = {},
): AsyncIterable<InstallEvent> {
  const abandoned = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, abandoned.signal]) : abandoned.signal;
  const queue = new EventQueue<InstallEvent>(() => abandoned.abort());
  const pull = new Pull(registry, ref, { ...options, signal }, (event) => queue.push(event));
  pull.run().then(
    () => queue.end(),
    (error: unknown) => queue.fail(error),
  );
  return queue;
}

class Pull {
  readonly #registry: Registry;
  readonly #ref: string;
  readonly #options: PullOptions & { readonly signal: AbortSignal };
  readonly #emit: OnInstallEvent;
  readonly #access: HubAccess;

  constructor(
    registry: Registry,
    ref: string,
    options: PullOptions & { readonly signal: AbortSignal },
    emit: OnInstallEvent,
  ) {
    this.#registry = registry;
    this.#ref = ref;
    this.#options = options;
    this.#emit = emit;
    this.#access = openAccess(options);
  }

  async run(): Promise<InstalledModel> {
    const reference = parseReference(this.#ref, this.#access.endpoint.href);
    if (this.#options.id !== undefined) checkModelId(this.#options.id);
    if (this.#options.offline) throw fail('hub_offline', { param: 'ref' });
    this.#emit({ status: 'resolving', ref: this.#ref });
    const { commit, chosen } = await this.#resolve(reference);
    this.#emit({
      status: 'resolved',
      repo: reference.repo,
      commit,
      files: chosen.files.map((file) => file.path),
    });
    await this.#registry.store.prepareFolders();
    const locks: OwnerLock[] = [];
    try {
      const digests = await this.#fetchAll(reference, commit, chosen, locks);
      return await this.#install(reference, commit, chosen, digests);
    } finally {
      for (const lock of locks) await lock.release();
    }
  }

  async #resolve(reference: HubReference): Promise<{ commit: string; chosen: ChosenModel }> {
    const { signal } = this.#options;
    return this.#retrying(async () => {
      const commit = await resolveCommit(this.#access, reference.repo, reference.revision, signal);
      const chosen = chooseFiles(
        reference,
        await listRepository(this.#access, reference.repo, commit, signal),
      );
      const unknown = chosen.files.find((file) => file.sha256 === null && file.gitSha1 === null);
      if (unknown)
        throw fail('hub_invalid', {
          endpoint: this.#access.endpoint.origin,
          reason: `no digest for ${unknown.path}`,
        });
      return { commit, chosen };
    });
  }

  /** Downloads what is missing; the locks of the files are held until the model is committed. */
  async #fetchAll(
    reference: HubReference,
    commit: string,
    chosen: ChosenModel,
    locks: OwnerLock[],
  ): Promise<FetchedFile[]> {
    // Each once and always in the same order, so that no two pulls that share files can wait for each other.
    for (const key of [...new Set(chosen.files.map(partialKey))].sort())
      locks.push(await this.#lockFile(key));
    const { paths } = this.#registry.store;
    const present = new Map<RepositoryFile, boolean>();
    for (const file of chosen.files) present.set(file, await this.#hasBlob(file));
    const needed = chosen.files.filter((file) => present.get(file) === false);
    await requireSpace(paths.partial, await remainingBytes(needed, (file) => this.#target(file)));
    const fetched: FetchedFile[] = [];
    for (const file of chosen.files) {
      const target = this.#target(file);
      const isPresent = present.get(file) === true && file.sha256 !== null;
      const digest = isPresent ? (file.sha256 ?? '') : await this.#fetch(reference, commit, file, target);
      fetched.push({ path: isPresent ? blobPath(paths, digest) : target, digest, isPresent });
    }
    return fetched;
  }

  async #fetch(
    reference: HubReference,
    commit: string,
    file: RepositoryFile,
    target: string,
  ): Promise<string> {
    return downloadFile({
      access: this.#access,
      repo: reference.repo,
      commit,
      file,
      target,
      retries: this.#options.retries ?? usualRetries,
      onEvent: this.#emit,
      onStep: (step) => this.#registry.store.step(step),
      signal: this.#options.signal,
    });
  }

  async #lockFile(key: string): Promise<OwnerLock> {
    return takeLock(join(this.#registry.store.paths.partial, `${key}.lock`), {
      purpose: `hearth pull ${this.#ref}`,
      what: 'The same download',
      waitMs: Number.POSITIVE_INFINITY,
      onWait: (holder) =>
        this.#emit({ status: 'waiting', holder: `${holder.purpose}, process ${holder.pid}` }),
      signal: this.#options.signal,
    });
  }

  #target(file: RepositoryFile): string {
    const { paths } = this.#registry.store;
    return file.sha256 === null
      ? join(paths.partial, `${partialKey(file)}.part`)
      : downloadPath(paths, file.sha256);
  }

  /** True when the blob is installed already and still right; a damaged one is fetched anew. */
  async #hasBlob(file: RepositoryFile): Promise<boolean> {
    if (file.sha256 === null) return false;
    const path = blobPath(this.#registry.store.paths, file.sha256);
    try {
      const { sizeBytes } = await stampFile(path);
      if (sizeBytes !== file.sizeBytes) return false;
    } catch {
      // Absent or unreadable: in both cases the download, or its failure to write, says what matters.
      return false;
    }
    const onBytes = (completed: number) =>
      this.#emit({ status: 'verifying', file: file.path, total: file.sizeBytes, completed });
    return (await hashFile(path, { signal: this.#options.signal, onBytes })) === file.sha256;
  }

  async #install(
    reference: HubReference,
    commit: string,
    chosen: ChosenModel,
    fetched: readonly FetchedFile[],
  ): Promise<InstalledModel> {
    const names =
      fetched.length > 1 ? shardNames({ prefix: 'model', index: 1, count: fetched.length }) : ['model.gguf'];
    const inspection = await this.#inspect(chosen, fetched, names);
    const files: BlobFile[] = [];
    for (const [position, file] of fetched.entries())
      files.push({
        role: 'model',
        digest: file.digest,
        ...(await stampFetched(file)),
        ...(fetched.length > 1 ? { name: names[position] ?? '' } : {}),
      });
    const { id, aliases } = this.#names(reference, chosen);
    const missing = new Map(
      fetched.filter((file) => !file.isPresent).map((file) => [file.digest, file.path]),
    );
    const blobs: PendingBlob[] = [...missing].map(([digest, from]) => ({ from, digest }));
    this.#emit({ status: 'writing manifest', id });
    const model = await commitModel(
      this.#registry,
      `hearth pull ${this.#ref}`,
      {
        schema: 1,
        id,
        aliases,
        kind: inspection.kind,
        ownedBy: `hf:${reference.repo.split('/')[0]}`,
        source: {
          type: 'hf',
          ref: this.#ref.trim(),
          repo: reference.repo,
          commit,
          endpoint: this.#access.endpoint.origin,
        },
        files,
        facts: { ...inspection.facts, sizeBytes: files.reduce((sum, file) => sum + file.sizeBytes, 0) },
        params: {},
        addedAt: new Date().toISOString(),
      },
      blobs,
    );
    this.#emit({ status: 'success', id: model.id });
    return model;
  }

  /** A file that can never be used is not kept for a resumption that would only refuse it again. */
  async #inspect(
    chosen: ChosenModel,
    fetched: readonly FetchedFile[],
    names: readonly string[],
  ): Promise<Inspection> {
    try {
      return await inspectStaged(this.#registry.store.paths.partial, {
        files: fetched.map((file, position) => ({ path: file.path, name: names[position] ?? '' })),
        shown: chosen.files[0]?.path ?? '',
        inspect: this.#options.inspect ?? inspectModel,
        probe: this.#options.probe,
        onEvent: this.#emit,
      });
    } catch (error) {
      if (isFailure(error, 'gguf_invalid', 'file_unusable', 'embedding_width'))
        for (const file of fetched) if (!file.isPresent) await rm(file.path, { force: true });
      throw error;
    }
  }

  #names(reference: HubReference, chosen: ChosenModel): { id: string; aliases: string[] } {
    const shown = `${reference.repo}:${chosen.label}`;
    const isUsualChoice = reference.quant === null && reference.path === null;
    const aliases = isUsualChoice ? [shown, reference.repo] : [shown];
    const id = this.#options.id ?? toModelId(shown);
    if (id === null) throw fail('model_id_invalid', { id: shown, param: 'id', reason: 'give one with --id' });
    return { id, aliases };
  }

  async #retrying<T>(run: () => Promise<T>): Promise<T> {
    const { retries, signal } = this.#options;
    return withRetries(retries ?? usualRetries, { signal, onEvent: this.#emit }, run);
  }
}

interface FetchedFile {
  readonly path: string;
  readonly digest: string;
  /** True when the blob was in the store before. */
  readonly isPresent: boolean;
}

/** A blob that was there when the pull began may have been removed with another model since. */
async function stampFetched(file: FetchedFile): Promise<FileStamp> {
  return stampFile(file.path).catch((error: unknown) => {
    throw file.isPresent ? unusable(file.path, 'another process removed it; run the command again') : error;
  });
}

/** How a file is called in partial/: by the digest that it must have. */
function partialKey(file: RepositoryFile): string {
  return file.sha256 === null ? `git-${file.gitSha1}` : `sha256-${file.sha256}`;
}

async function remainingBytes(
  files: readonly RepositoryFile[],
  target: (file: RepositoryFile) => string,
): Promise<number> {
  let sum = 0;
  for (const file of files) {
    const have = await stampFile(target(file)).then(
      (stamp) => stamp.sizeBytes,
      () => 0,
    );
    sum += Math.max(0, file.sizeBytes - have);
  }
  return sum;
}
