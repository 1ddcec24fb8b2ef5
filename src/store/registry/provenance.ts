/** Hashes of a model's files, for records that name the very bytes that were loaded. */
import { stat } from 'node:fs/promises';
import { runGate } from '../../lib/gguf/run-gate.ts';
import { fail } from '../../lib/errors/svc-error.ts';
import { changeableByOthers } from '../../lib/files/other-writers.ts';
import { type FileStamp, hashFile } from '../../lib/files/plain-file.ts';
import {
  type BlobFile,
  knownDigest,
  isBlobFile,
  type ModelFile,
  type ModelManifest,
  modelFiles,
} from '../files/manifest.ts';
import { filePath, type StorePaths } from '../files/paths.ts';
import type { FileStates } from './file-states.ts';

export interface FileProvenance {
  readonly sha256: string;
  readonly sizeBytes: number;
}

export interface ModelProvenance {
  readonly files: readonly [FileProvenance, ...FileProvenance[]];
  /** Covers the first file up to the end of its tensor list. */
  readonly headerSha256: string;
  /** Call it after the run: throws evidence_unavailable if other bytes may have been loaded. */
  confirm(): Promise<void>;
}

interface Proven extends FileProvenance {
  /** Null for bytes of the store that only users with write access to the home can change. */
  readonly seen: {
    readonly path: string;
    readonly stamp: FileStamp;
    readonly expected: string | null;
  } | null;
}

/**
 * Bytes that only the home can reach have the digest under which they were stored. All others are hashed in this
 * process before the first run in a state of the file and after every run, because a write through a shared mapping
 * leaves no trace in the state.
 */
export class Provenance {
  readonly #paths: StorePaths;
  readonly #states: FileStates;
  readonly #headers = new Map<string, string>();

  constructor(paths: StorePaths, states: FileStates) {
    this.#paths = paths;
    this.#states = states;
  }

  async of(model: ModelManifest): Promise<ModelProvenance> {
    const [first, ...rest] = modelFiles(model);
    if (first === undefined)
      throw fail('model_damaged', { model: model.id, param: 'model', reason: 'it names no model file' });

    const firstFacts = await this.#file(model, first);
    const shards = await Promise.all(rest.map((file) => this.#file(model, file)));
    const headerSha256 = await this.#header(filePath(this.#paths, first), firstFacts.sha256);
    const proven = [firstFacts, ...shards];
    return {
      files: [fileFacts(firstFacts), ...shards.map(fileFacts)],
      headerSha256,
      confirm: async () => {
        for (const file of proven) await this.#confirm(model, file);
      },
    };
  }

  async #file(model: ModelManifest, file: ModelFile): Promise<Proven> {
    const { sizeBytes } = file;
    const path = filePath(this.#paths, file);
    if (isBlobFile(file) && !(await isShared(path, file)))
      return { sha256: file.digest, sizeBytes, seen: null };
    await this.#refuseWriters(path, file);
    const found = await this.#states.digestHere(path);
    if (found === null) throw unproven(`${path} changed while being read`);
    const { stamp, sha256 } = found;
    const expected = knownDigest(file);
    // Earlier loads were checked against this digest, and may be in memory in another form than the file.
    if (expected === null) throw unproven(`no digest of ${path} is known; run: hearth verify ${model.id}`);
    if (sha256 !== expected) {
      const reason = 'the digest of its file differs';
      throw fail('model_damaged', { model: model.id, param: 'model', reason });
    }
    return { sha256, sizeBytes: stamp.sizeBytes, seen: { path, stamp, expected } };
  }

  async #refuseWriters(path: string, file: ModelFile): Promise<void> {
    const open = await changeableByOthers(path);
    // Folders of the store are this user's.
    if (open === null || (isBlobFile(file) && open !== path)) return;
    throw unproven(
      `other users of this machine can change ${open}; install a copy with hearth import --copy, or take their right to write away`,
    );
  }

  async #header(path: string, sha256: string): Promise<string> {
    const header = this.#headers.get(sha256) ?? (await runGate('inspectGguf', path)).headerSha256;
    this.#headers.set(sha256, header);
    return header;
  }

  async #confirm(model: ModelManifest, { sha256, seen }: Proven): Promise<void> {
    if (seen === null) return;
    const isSame = (await hashFile(seen.path)) === sha256;
    if (isSame && (await this.#states.isWhatRan(seen.path, { ...seen, sha256 }))) return;
    throw unproven(`a file of ${model.id} changed after it was loaded; restart the service`);
  }
}

/** True if a blob has, or had, a name outside the store by which it could be opened. Parts have one more inside. */
async function isShared(path: string, { name, linked }: BlobFile): Promise<boolean> {
  if (linked === true) return true;
  const { nlink } = await stat(path);
  return nlink > (name === undefined ? 1 : 2);
}

const fileFacts = ({ sha256, sizeBytes }: Proven): FileProvenance => ({ sha256, sizeBytes });
const unproven = (reason: string): Error => fail('evidence_unavailable', { reason });
