import { basename, dirname, join, posix, relative, sep } from 'node:path';
import { isFailure } from '../../lib/errors/svc-error.ts';
import { readPlainFile } from '../../lib/files/plain-file.ts';
import type { InstalledModel } from '../registry/registry.ts';
import type { OnInstallEvent } from './install-event.ts';

const MOST_SIGNATURE_BYTES = 4 * 1024 * 1024 + 1;

/** Signatures beyond this are not read, and sign nothing. */
const MOST_SIGNATURES = 256;
const MOST_BYTES = 32 * 1024 * 1024;

/** Appended to a file name: cosign's, Sigstore's, and those of plain signatures. */
const OF_FILE = ['.sigstore.json', '.sigstore', '.bundle', '.sig'];
/** Cover a whole folder, by model_signing. */
const OF_FOLDER = ['model.sig', 'model.sigstore.json'];

export interface SignedFile {
  /** A path with slashes, relative to the folder that it shares with its signatures. */
  readonly name: string;
  readonly path: string;
  readonly sha256: string;
  readonly isComputed: boolean;
}

export interface SignaturePlace {
  readonly name: string;
  readonly of: string | null;
}

export interface ModelToCheck {
  readonly id: string;
  readonly files: readonly SignedFile[];
  readonly signatures: readonly (SignaturePlace & { readonly bytes: Buffer })[];
  readonly onEvent?: OnInstallEvent | undefined;
}

export interface SignatureGate {
  /** Throws signature_refused, before anything is fetched, if signatures are required and this model has none. */
  expect(id: string, found: readonly SignaturePlace[]): void;
  /** Throws signature_refused. Call the returned function after the installation to store the finding. */
  check(model: ModelToCheck): Promise<(installed: InstalledModel) => Promise<void>>;
}

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

/** `read` returns null for a missing signature. */
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

export async function signedHere(
  paths: readonly string[],
): Promise<{ readonly names: readonly string[]; readonly signatures: ModelToCheck['signatures'] }> {
  const folder = dirname(paths[0] ?? '.');
  const names = paths.map((path) => relative(folder, path).split(sep).join(posix.sep) || basename(path));
  const read = ({ name }: SignaturePlace, mostBytes: number) => readIfThere(join(folder, name), mostBytes);
  return { names, signatures: await readSignatures(signaturePlaces(names), read) };
}

/** Null if absent; an unreadable one counts as a wrong one. */
async function readIfThere(path: string, mostBytes: number): Promise<Buffer | null> {
  try {
    return await readPlainFile(path, mostBytes);
  } catch (error) {
    if (isFailure(error, 'file_not_found')) return null;
    if (isFailure(error, 'file_unusable', 'store_unreadable')) return Buffer.alloc(0);
    throw error;
  }
}
