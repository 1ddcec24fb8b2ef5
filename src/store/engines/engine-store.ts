/** The folder of engines: read on every request, changed under the writer lock of the store. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Check } from 'typebox/value';
import { fail } from '../../lib/errors/svc-error.ts';
import { errnoCode, makeFolder, removeDurably, writeDurably } from '../../lib/files/durable.ts';
import { stampNow } from '../../lib/files/stamp.ts';
import { fileNameToId, idToFileName, isModelId } from '../files/model-id.ts';
import type { Store } from '../files/store.ts';
import { EngineEntry } from './entry.ts';

export interface EngineSet {
  readonly entries: readonly EngineEntry[];
  /** Unusable files never hide the others. */
  readonly damaged: readonly { readonly name: string; readonly reason: string }[];
}

const MOST_BYTES = 4 * 1024 * 1024;
const NONE: EngineSet = { entries: [], damaged: [] };

export class EngineStore {
  readonly #store: Store;
  #known: { readonly stamp: string; readonly set: EngineSet } | undefined;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Caches by the stat of the folder: every change adds, replaces or removes a file, which shows there. */
  async read(): Promise<EngineSet> {
    const folder = stampNow(this.#folder);
    if (folder === null) return NONE;
    if (this.#known?.stamp === folder.text) return this.#known.set;
    const set = await this.#readAll();
    this.#known = folder.isSettled ? { stamp: folder.text, set } : undefined;
    return set;
  }

  async find(name: string): Promise<EngineEntry> {
    const { entries } = await this.read();
    const entry = entries.find((each) => each.name === name.toLowerCase());
    if (entry === undefined) throw fail('engine_not_found', { name });
    return entry;
  }

  async put(entry: EngineEntry): Promise<void> {
    await this.#change(`hearth ${entry.type} add ${entry.name}`, async () => {
      const { entries } = await this.#readAll();
      const other = entries.find(({ name, type }) => name === entry.name && type !== entry.type);
      if (other !== undefined) throw taken(entry.name, `there is a ${other.type} of this name`);
      await this.#write(entry);
    });
  }

  async update(name: string, apply: (entry: EngineEntry) => EngineEntry): Promise<EngineEntry> {
    return this.#change(`hearth update ${name}`, async () => {
      const { entries } = await this.#readAll();
      const entry = entries.find((each) => each.name === name);
      if (entry === undefined) throw fail('engine_not_found', { name });
      const next = apply(entry);
      await this.#write(next);
      return next;
    });
  }

  async remove(name: string, type: EngineEntry['type']): Promise<void> {
    await this.#change(`hearth ${type} rm ${name}`, async () => {
      const { entries, damaged } = await this.#readAll();
      const isThere =
        entries.some((each) => each.name === name && each.type === type) ||
        damaged.some((each) => each.name === name);
      if (!isThere) throw fail('engine_not_found', { name });
      await removeDurably(this.#path(name));
    });
  }

  get #folder(): string {
    return this.#store.paths.engines;
  }

  async #change<T>(purpose: string, apply: () => Promise<T>): Promise<T> {
    return this.#store.change(purpose, async () => {
      await makeFolder(this.#folder);
      return apply();
    });
  }

  async #write(entry: EngineEntry): Promise<void> {
    await writeDurably(this.#path(entry.name), `${JSON.stringify(entry, null, 2)}\n`);
  }

  #path(name: string): string {
    return join(this.#folder, `${idToFileName(name)}.json`);
  }

  async #readAll(): Promise<EngineSet> {
    const names = (await readdir(this.#folder)).filter((name) => name.endsWith('.json')).sort();
    const read = await Promise.all(names.map((name) => this.#readFile(name)));
    return {
      entries: read.flatMap((each) => ('entry' in each ? [each.entry] : [])),
      damaged: read.flatMap((each) => ('reason' in each ? [each] : [])),
    };
  }

  async #readFile(file: string): Promise<{ readonly entry: EngineEntry } | EngineSet['damaged'][number]> {
    const name = fileNameToId(file.slice(0, -'.json'.length)) ?? file;
    try {
      const text = await readFile(join(this.#folder, file), 'utf8');
      const value: unknown = text.length > MOST_BYTES ? null : JSON.parse(text);
      if (Check(EngineEntry, value) && value.name === name) return { entry: value };
      return { name, reason: 'it is not an entry of an engine' };
    } catch (error) {
      return {
        name,
        reason: error instanceof SyntaxError ? 'it is not JSON' : (errnoCode(error) ?? String(error)),
      };
    }
  }
}

/** Throws for a name that ids cannot begin with. */
export function checkEngineName(name: string): string {
  if (/[/:]/.test(name) || name.length > 40 || !isModelId(name))
    throw taken(name, 'a name has up to 40 small letters, digits, dots, dashes and underscores');
  return name;
}

export const taken = (name: string, reason: string): Error => fail('upstream_name_taken', { name, reason });
