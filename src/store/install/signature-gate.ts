/** Places of model signatures, and the check before an installation commits. */
import { basename, dirname, join, posix, relative, sep } from 'node:path';
import { isFailure } from '../../lib/errors/svc-error.ts';
import { readPlainFile } from '../../lib/files/plain-file.ts';
import type { InstalledModel } from '../registry/registry.ts';
import type { OnInstallEvent } from './install-event.ts';

/** Bytes of one signature; the verifier says what is wrong with one that is larger. */
const MOST_SIGNATURE_BYTES = 4 * 1024 * 1024 + 1;

/** Limits of a model's signatures; anything beyond is not read, and signs nothing. */
const MOST_SIGNATURES = 256;
const MOST_BYTES = 32 * 1024 * 1024;

/** Endings after the name of a file: cosign's, Sigstore's, and those of plain signatures. */
const OF_FILE = ['.sigstore.json', '.sigstore', '.bundle', '.sig'];
/** Names in a folder for all of its files, by model_signing. */
const OF_FOLDER = ['model.sig', 'model.sigstore.json'];

export interface SignedFile {
  /** A path with slashes, below the folder that it shares with its signatures. */
  readonly name: string;
  readonly path: string;
  readonly sha256: string;
  /** False: another program states the digest. */
  readonly isComputed: boolean;
}

export interface SignaturePlace {
  readonly name: string;
  /** The file that it would be named after; null: all of its folder. */
  readonly of: string | null;
}

export interface ModelToCheck {
  readonly id: string;
  readonly files: readonly SignedFile[];
  readonly signatures: readonly (SignaturePlace & { readonly bytes: Buffer })[];
  readonly onEvent?: OnInstallEvent | undefined;
}

export interface SignatureGate {
  /** Throws signature_refused, before anything is fetched, where only signed models are installed and this has no signature. */
  expect(id: string, found: readonly SignaturePlace[]): void;
  /** Throws signature_refused; returns what keeps the finding once the model is installed. */
  check(model: ModelToCheck): Promise<(installed: InstalledModel) => Promise<void>>;
}

/** Places of signatures of these files: next to them, in their folder and in those above it. */
export function signaturePlaces(files: readonly string[]): SignaturePlace[] {
  const places = new Map<string, SignaturePlace>();
  for (const of of files) {
    for (const ending of OF_FILE) places.set(of + ending, { name: of + ending, of });
    for (let folder = posix.dirname(of); ; folder = posix.dirname(folder)) {
      for (const file of OF_FOLDER) {
        const name = folder === '.' ? file : `${folder}/${file}`;
        if (!places.has(name)) places.set(name, { name, of: null });
      }
      if (folder === '.' || folder === '..' || folder === '/') break;
    }
  }
  return [...places.values()];
}

/**
 * Bytes of the first existing signatures; `read` takes at most this number of bytes, and returns null for no file.
 */
export async function readSignatures<Place extends SignaturePlace>(
  places: readonly Place[],
  read: (place: Place, mostBytes: number) => Promise<Buffer | null>,
): Promise<ModelToCheck['signatures']> {
  const found: ModelToCheck['signatures'][number][] = [];
  let left = MOST_BYTES;
  for (const place of places) {
    if (found.length === MOST_SIGNATURES || left <= 0) break;
    const bytes = await read(place, Math.min(MOST_SIGNATURE_BYTES, left));
    if (bytes === null) continue;
    found.push({ name: place.name, of: place.of, bytes });
    left -= bytes.length;
  }
  return found;
}

/** Names of local files, and the signatures next to them or in their folder. */
export async function signedHere(
  paths: readonly string[],
): Promise<{ readonly names: readonly string[]; readonly signatures: ModelToCheck['signatures'] }> {
  const folder = dirname(paths[0] ?? '.');
  const names = paths.map((path) => relative(folder, path).split(sep).join(posix.sep) || basename(path));
  const read = ({ name }: SignaturePlace, mostBytes: number) => readIfThere(join(folder, name), mostBytes);
  return { names, signatures: await readSignatures(signaturePlaces(names), read) };
}

/** Null where there is no such file; one that cannot be read is as bad as a wrong one. */
async function readIfThere(path: string, mostBytes: number): Promise<Buffer | null> {
  try {
    return await readPlainFile(path, mostBytes);
  } catch (error) {
    if (isFailure(error, 'file_not_found')) return null;
    if (isFailure(error, 'file_unusable', 'store_unreadable')) return Buffer.alloc(0);
    throw error;
  }
}
