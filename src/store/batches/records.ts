/** A folder of small JSON records by id, mirrored in memory. A change is on the disk before it is reported. */
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { parseJson } from '../../lib/base/json.ts';
import { makeFolder, removeDurably, writeDurably } from '../../lib/files/durable.ts';

const END = '.json';

export class Records<T extends { readonly schema: 1 }> {
  readonly #folder: string;
  readonly #all: Map<string, T>;
  readonly #writes = new Map<string, Promise<void>>();

  private constructor(folder: string, all: Map<string, T>) {
    this.#folder = folder;
    this.#all = all;
  }

  /** Skips damaged records and those of a later version; `onSkipped` gets the file of each. */
  static async open<T extends { readonly schema: 1 }>(
    folder: string,
    onSkipped: (file: string) => void,
  ): Promise<Records<T>> {
    await makeFolder(folder);
    const all = new Map<string, T>();
    for (const name of (await readdir(folder)).toSorted()) {
      if (!name.endsWith(END) || name.startsWith('.')) continue;
      const file = path.join(folder, name);
      const record = parseJson(await readFile(file, 'utf8')) as T | null | undefined;
      if (record?.schema === 1) all.set(name.slice(0, -END.length), record);
      else onSkipped(file);
    }
    return new Records(folder, all);
  }

  get(id: string): T | undefined {
    return this.#all.get(id);
  }

  entries(): [string, T][] {
    return [...this.#all];
  }

  put(id: string, record: T): Promise<void> {
    this.#all.set(id, record);
    return this.#later(id, () => writeDurably(this.#recordPath(id), `${JSON.stringify(record)}\n`));
  }

  delete(id: string): Promise<void> {
    this.#all.delete(id);
    return this.#later(id, () => removeDurably(this.#recordPath(id)));
  }

  #later(id: string, work: () => Promise<void>): Promise<void> {
    const before = this.#writes.get(id) ?? Promise.resolve();
    const write = before.catch(() => undefined).then(work);
    this.#writes.set(id, write);
    const forget = (): void => {
      if (this.#writes.get(id) === write) this.#writes.delete(id);
    };
    write.then(forget, forget);
    return write;
  }

  /** Safe as a path: ids are made here and contain only letters, digits, `_` and `-`. */
  #recordPath(id: string): string {
    return path.join(this.#folder, id + END);
  }
}
