/** The parts of an unfinished measurement, kept in the home so that an interrupted run continues. Losing them costs a run. */
import { createHash } from 'node:crypto';
import { readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { type Static, type TSchema, Type } from 'typebox';
import { Check } from 'typebox/value';
import { isSvcError } from '../../../lib/errors/svc-error.ts';
import { fileFailure, makeFolder, removeDurably, writeDurably } from '../../../lib/files/durable.ts';
import { readText } from '../../../lib/files/plain-file.ts';
import { evalFolder } from './eval-folder.ts';

const Kept = Type.Object({
  schema: Type.Literal(1),
  key: Type.String(),
  parts: Type.Record(Type.String(), Type.Unknown()),
});

/** Scores of all texts take about a megabyte. */
const MOST_BYTES = 32 * 1024 * 1024;
/** Speeds of an earlier day say little of today's machine. */
const KEPT_MS = 24 * 60 * 60 * 1000;

export class Parts {
  readonly #file: string;
  readonly #key: string;
  readonly #parts: Record<string, unknown>;
  /** Parts of the interrupted run. */
  readonly kept: number;

  private constructor(file: string, key: string, parts: Record<string, unknown>) {
    this.#file = file;
    this.#key = key;
    this.#parts = parts;
    this.kept = Object.keys(parts).length;
  }

  /** `key` names all that the parts follow from. */
  static async open(home: string, key: string, nowMs: number): Promise<Parts> {
    const folder = path.join(evalFolder(home), 'unfinished');
    await removeOld(folder, nowMs);
    const digest = createHash('sha256').update(key).digest('hex');
    const file = path.join(folder, `${digest.slice(0, 32)}.json`);
    return new Parts(file, digest, await readKept(file, digest));
  }

  /** What the interrupted run has under this name, or what `make` makes. */
  async part<T extends TSchema>(name: string, shape: T, make: () => Promise<Static<T>>): Promise<Static<T>> {
    const kept = this.#parts[name];
    if (kept !== undefined && Check(shape, kept)) return kept;
    const made = await make();
    this.#parts[name] = made;
    await this.#write();
    return made;
  }

  /** The measurement is whole. */
  async remove(): Promise<void> {
    await ifPossible(() => removeDurably(this.#file));
  }

  async #write(): Promise<void> {
    await ifPossible(async () => {
      await makeFolder(path.dirname(this.#file));
      await writeDurably(this.#file, JSON.stringify({ schema: 1, key: this.#key, parts: this.#parts }));
    });
  }
}

async function readKept(file: string, key: string): Promise<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse((await readText(file, MOST_BYTES)) ?? 'null');
    return Check(Kept, value) && value.key === key ? value.parts : {};
  } catch {
    // Whatever keeps them from being read, they can be measured again.
    return {};
  }
}

async function removeOld(folder: string, nowMs: number): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names) {
    const file = path.join(folder, name);
    const seen = await stat(file).catch(() => null);
    if (seen !== null && nowMs - seen.mtimeMs > KEPT_MS) await rm(file, { force: true }).catch(() => {});
  }
}

/** A home that cannot be written to keeps nothing. */
async function ifPossible(write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (error) {
    if (!isSvcError(error) && fileFailure(error) === null) throw error;
  }
}
