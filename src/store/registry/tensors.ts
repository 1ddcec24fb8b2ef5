/** The tensors of a model: the bits of a weight, and which ones differ between two models. */
import type { FileHandle } from 'node:fs/promises';
import { openPlainFile } from '../../lib/files/plain-file.ts';
import { runGate } from '../../lib/gguf/run-gate.ts';

export interface OtherTensors {
  /** Number of tensors with equal name, type and shape in both. */
  readonly compared: number;
  /** Names of those with other bytes. */
  readonly other: readonly string[];
}

const PIECE_BYTES = 1024 * 1024;

/** The files of each model; reads both as far as they are equal. */
export async function otherTensors(
  own: readonly string[],
  reference: readonly string[],
  signal: AbortSignal,
): Promise<OtherTensors> {
  const [ours, theirs] = [await readPlaces(own), await readPlaces(reference)];
  let compared = 0;
  const other: string[] = [];
  for (const [name, place] of ours) {
    const twin = theirs.get(name);
    if (twin?.form !== place.form) continue;
    signal.throwIfAborted();
    compared += 1;
    if (!(await isSame(place, twin))) other.push(name);
  }
  return { compared, other };
}

/** Without what the files contain besides weights, such as the vocabulary; null: they have none. */
export async function bitsPerWeight(paths: readonly string[]): Promise<number | null> {
  const places = [...(await readPlaces(paths)).values()];
  const [bytes, weights] = (['bytes', 'weights'] as const).map((name) =>
    places.reduce((sum, place) => sum + place[name], 0),
  );
  return bytes === undefined || weights === undefined || weights === 0 ? null : (8 * bytes) / weights;
}

interface Place {
  readonly path: string;
  readonly form: string;
  readonly weights: number;
  readonly from: number;
  readonly bytes: number;
}

async function readPlaces(paths: readonly string[]): Promise<Map<string, Place>> {
  const found = new Map<string, Place>();
  for (const path of paths)
    for (const [name, place] of await runGate('readTensorPlaces', path)) found.set(name, { path, ...place });
  return found;
}

async function isSame(a: Place, b: Place): Promise<boolean> {
  const [{ file: own }, { file: other }] = await Promise.all([openPlainFile(a.path), openPlainFile(b.path)]);
  try {
    for (let at = 0; at < a.bytes; at += PIECE_BYTES) {
      const bytes = Math.min(PIECE_BYTES, a.bytes - at);
      const [here, there] = await Promise.all([
        readPiece(own, a.from + at, bytes),
        readPiece(other, b.from + at, bytes),
      ]);
      if (!here.equals(there)) return false;
    }
    return true;
  } finally {
    await own.close();
    await other.close();
  }
}

async function readPiece(file: FileHandle, position: number, bytes: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, position);
  return buffer.subarray(0, bytesRead);
}
