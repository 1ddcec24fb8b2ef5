/** The hashes of a model's files, for records that name the very bytes that were loaded. */
import { inspectGguf } from '../../lib/gguf/gate/inspect.ts';
import { fail } from '../../lib/errors/svc-error.ts';
import { type FileStamp, hashFile, sameStamp, stampFile } from '../../lib/files/plain-file.ts';
import { isBlobFile, type ModelFile, type ModelManifest, modelFiles } from '../files/manifest.ts';
import { filePath, type StorePaths } from '../files/paths.ts';

export interface FileProvenance {
  readonly sha256: string;
  readonly sizeBytes: number;
}

export interface ModelProvenance {
  /** In the order of the manifest; the first is the one that native code opens. */
  readonly files: readonly [FileProvenance, ...FileProvenance[]];
  /** The first file up to the end of its tensor list. */
  readonly headerSha256: string;
}

interface Known<T> {
  readonly stamp: FileStamp;
  readonly value: Promise<T>;
}

/**
 * Reads what is known and computes the rest, once per state of a file. A digest that a foreign store merely states is
 * not taken on trust here.
 */
export class Provenance {
  readonly #paths: StorePaths;
  readonly #digests = new Map<string, Known<string>>();
  readonly #headers = new Map<string, Known<string>>();

  constructor(paths: StorePaths) {
    this.#paths = paths;
  }

  async of(model: ModelManifest): Promise<ModelProvenance> {
    const [first, ...rest] = modelFiles(model);
    if (first === undefined)
      throw fail('model_damaged', { model: model.id, param: 'model', reason: 'it names no model file' });

    const firstFacts = await this.#file(first);
    const shards = await Promise.all(rest.map((file) => this.#file(file)));
    const path = filePath(this.#paths, first);
    const headerSha256 = await remember(
      this.#headers,
      path,
      async () => (await inspectGguf(path)).headerSha256,
    );
    return { files: [firstFacts, ...shards], headerSha256 };
  }

  async #file(file: ModelFile): Promise<FileProvenance> {
    const { sizeBytes } = file;
    if (isBlobFile(file)) return { sha256: file.digest, sizeBytes };
    if (file.sha256 !== undefined && file.digestOrigin === 'computed')
      return { sha256: file.sha256, sizeBytes };
    return { sha256: await remember(this.#digests, file.path, () => hashFile(file.path)), sizeBytes };
  }
}

async function remember<T>(
  known: Map<string, Known<T>>,
  path: string,
  compute: () => Promise<T>,
): Promise<T> {
  const stamp = await stampFile(path);
  const found = known.get(path);
  if (found !== undefined && sameStamp(stamp, found.stamp)) return found.value;
  const value = compute();
  known.set(path, { stamp, value });
  value.catch(() => known.delete(path));
  return value;
}
