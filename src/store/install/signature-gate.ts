/** Where signatures of models lie, and the question that an installation asks about them before it commits. */
import { basename, dirname, join, posix, relative, sep } from 'node:path';
import { isFailure } from '../../lib/errors/svc-error.ts';
import { readPlainFile } from '../../lib/files/plain-file.ts';
import type { InstalledModel } from '../registry/registry.ts';
import type { OnInstallEvent } from './install-event.ts';

/** Bytes of one signature; the verifier says what is wrong with one that is larger. */
const MOST_SIGNATURE_BYTES = 4 * 1024 * 1024 + 1;

/** What a model may bring along; whatever lies beyond that is not read, and signs nothing. */
const MOST_SIGNATURES = 256;
const MOST_BYTES = 32 * 1024 * 1024;

/** Behind the name of a file: cosign's, Sigstore's, and those of plain signatures. */
const OF_FILE = ['.sigstore.json', '.sigstore', '.bundle', '.sig'];
/** In a folder, about its files: as model_signing calls it. */
const OF_FOLDER = ['model.sig', 'model.sigstore.json'];

export interface SignedFile {
  /** A path with slashes, below the folder that it shares with its signatures. */
  readonly name: string;
  readonly path: string;
  readonly sha256: string;
  /** False: another program states the digest. */
  readonly isComputed: boolean;
}

/** A place for a signature. */
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

/** Where signatures of these files may lie: beside them, in their folder and in those above it. */
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

/** The bytes of the first signatures that are there; `read` takes at most so many bytes, and returns null for no file. */
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

/** Names of local files, and the signatures that lie beside them or in their folder. */
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
