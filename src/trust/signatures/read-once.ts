import { createHash, type Hash } from 'node:crypto';
import { readChunks } from '../../lib/files/plain-file.ts';
import { fault } from './fault.ts';
import type { SignedPart } from './statement.ts';

interface Reader {
  update(bytes: Uint8Array): unknown;
}

export async function readOnce(path: string, readers: readonly Reader[]): Promise<void> {
  await readChunks(path, (bytes) => {
    for (const reader of readers) reader.update(bytes);
  });
}

const ALGORITHMS: ReadonlyMap<string, string> = new Map([
  ['sha256', 'sha256'],
  ['blake2b', 'blake2b512'],
]);

/** Checks that the parts are the whole file and have the signed digests. Throws signature_invalid. */
export async function hasParts(
  file: { readonly path: string; readonly sha256: string },
  parts: readonly SignedPart[],
): Promise<boolean> {
  const unknown = parts.find(({ algorithm }) => !ALGORITHMS.has(shardless(algorithm)));
  if (unknown !== undefined)
    throw fault(`Hearth does not compute its digest ${JSON.stringify(unknown.algorithm)}`);
  const [first] = parts;
  if (parts.length === 1 && first?.range === null && first.algorithm === 'sha256')
    return first.digest === file.sha256;
  const reader = new PartReader(parts);
  const whole = createHash('sha256');
  await readOnce(file.path, [whole, reader]);
  if (whole.digest('hex') !== file.sha256) throw fault('the file changed while it was read');
  return reader.areEqual();
}

/** Digests of parts are named after the digest and the size of a part: sha256-sharded-1000000000. */
const shardless = (algorithm: string): string => algorithm.replace(/-sharded-\d+$/, '');

const hashFor = (algorithm: string): Hash => createHash(ALGORITHMS.get(shardless(algorithm)) ?? 'sha256');

class PartReader {
  readonly #parts: readonly SignedPart[];
  #at = 0;
  #hash: Hash | null = null;
  #position = 0;
  #isWrong = false;

  constructor(parts: readonly SignedPart[]) {
    this.#parts = parts.toSorted((one, other) => (one.range?.[0] ?? 0) - (other.range?.[0] ?? 0));
    this.#begin();
  }

  update(bytes: Uint8Array): void {
    let rest = bytes;
    while (rest.length > 0 && !this.#isWrong) {
      const end = this.#parts[this.#at]?.range?.[1] ?? Number.POSITIVE_INFINITY;
      const taken = rest.subarray(0, Math.min(rest.length, end - this.#position));
      if (this.#hash === null) this.#isWrong = true;
      this.#hash?.update(taken);
      this.#position += taken.length;
      rest = rest.subarray(taken.length);
      if (this.#position === end) this.#end();
    }
  }

  areEqual(): boolean {
    if (this.#parts[this.#at]?.range === null) this.#end();
    return !this.#isWrong && this.#at === this.#parts.length;
  }

  #begin(): void {
    const part = this.#parts[this.#at];
    if (part === undefined) this.#hash = null;
    else if (
      (part.range?.[0] ?? 0) !== this.#position ||
      (part.range !== null && part.range[1] <= part.range[0])
    )
      this.#isWrong = true;
    else this.#hash = hashFor(part.algorithm);
  }

  #end(): void {
    if (this.#hash?.digest('hex') !== this.#parts[this.#at]?.digest) this.#isWrong = true;
    this.#hash = null;
    this.#at += 1;
    this.#begin();
  }
}
