/**
 * States of model files that this process hashed or loaded. A digest belongs to a state (size, times, inode), never
 * to a path: bytes changed in place have another state, whatever their mtime.
 */
import { type FileStamp, hashFile, isSettled, stampFile } from '../../lib/files/plain-file.ts';

interface States {
  /** Digest by state; a promise, so that concurrent requests hash once. */
  readonly hashed: Map<string, Promise<string>>;
  /** A manifest's claim about a state: enough for a load, not for a record. */
  readonly claimed: Map<string, string>;
  /** Digests under which a file was loaded in a state whose bytes were not hashed by then. */
  readonly loaded: Map<string, Set<string>>;
}

export interface Digested {
  readonly stamp: FileStamp;
  readonly sha256: string;
}

export class FileStates {
  readonly #files = new Map<string, States>();

  knows(path: string, stamp: FileStamp, sha256: string): void {
    this.#of(path).claimed.set(stampKey(stamp), sha256);
  }

  /** Hashes the file unless its state is known; null if it changed meanwhile, or may have. */
  async digest(path: string): Promise<Digested | null> {
    const stamp = await stampFile(path);
    const claimed = this.#of(path).claimed.get(stampKey(stamp));
    return claimed === undefined ? this.digestHere(path) : { stamp, sha256: claimed };
  }

  async digestHere(path: string): Promise<Digested | null> {
    const stamp = await stampFile(path);
    const { hashed } = this.#of(path);
    const known = hashed.get(stampKey(stamp));
    if (known !== undefined) return { stamp, sha256: await known };
    // A change in the same tick leaves the stamp equal, so a state that young is not remembered.
    const digest = hashFile(path);
    const state = stampKey(stamp);
    if (isSettled(stamp)) hashed.set(state, digest);
    try {
      const sha256 = await digest;
      if (stampKey(await stampFile(path)) === state) return { stamp, sha256 };
      hashed.delete(state);
      return null;
    } catch (error) {
      hashed.delete(state);
      throw error;
    }
  }

  /** Call it before native code opens the file, which is assumed to have the digest `expected`. */
  loads(path: string, stamp: FileStamp, expected: string | null): void {
    const { loaded } = this.#of(path);
    const key = expected ?? '';
    loaded.set(key, (loaded.get(key) ?? new Set()).add(stampKey(stamp)));
  }

  /** True if the file is still in this state, and every load of it under `expected` read the bytes of `sha256`. */
  async isWhatRan(
    path: string,
    {
      stamp,
      sha256,
      expected,
    }: { readonly stamp: FileStamp; readonly sha256: string; readonly expected: string | null },
  ): Promise<boolean> {
    const state = stampKey(stamp);
    if (stampKey(await stampFile(path)) !== state) return false;
    const { hashed, claimed, loaded } = this.#of(path);
    for (const other of loaded.get(expected ?? '') ?? [])
      if (other !== state && ((await hashed.get(other)) ?? claimed.get(other)) !== sha256) return false;
    return true;
  }

  #of(path: string): States {
    const states = this.#files.get(path) ?? { hashed: new Map(), claimed: new Map(), loaded: new Map() };
    this.#files.set(path, states);
    return states;
  }
}

const stampKey = ({ sizeBytes, mtimeMs, inode, ctimeNs }: FileStamp): string =>
  [sizeBytes, mtimeMs, inode, ctimeNs].join(' ');
