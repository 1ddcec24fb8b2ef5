/**
 * store/foreign owns the scanners of other programs' models. They only read: they never write, rename or delete in a
 * foreign store. It does not know whether a find is usable: candidates are checked at installation. This file is what
 * all scanners share.
 */
import type { Dirent } from 'node:fs';
import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { errnoCode } from '../../lib/files/durable.ts';
import type { ForeignStoreName } from '../files/manifest.ts';
import type { Candidate } from '../install/import.ts';
import {
  isModelFileName,
  isProjectorFileName,
  modelStem,
  parseShardName,
  shardNames,
} from '../install/shards.ts';

export interface ForeignEnvironment {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly userHome: string;
  readonly platform: NodeJS.Platform;
}

export interface ForeignProblem {
  readonly path: string;
  readonly reason: string;
}

export interface ForeignScan {
  readonly store: ForeignStoreName | 'folder';
  readonly roots: readonly string[];
  readonly candidates: readonly Candidate[];
  readonly problems: readonly ForeignProblem[];
}

const MAX_ENTRIES = 20_000;
const MAX_DEPTH = 6;

export class ScanNotes {
  readonly problems: ForeignProblem[] = [];
  #entriesLeft = MAX_ENTRIES;

  add(path: string, reason: string): void {
    this.problems.push({ path, reason });
  }

  /** Visible entries, sorted. A missing folder is empty; an unreadable one is noted as a problem. */
  async entries(folder: string): Promise<Dirent[]> {
    try {
      const all = await readdir(folder, { withFileTypes: true });
      const visible = all
        .filter((entry) => !entry.name.startsWith('.'))
        .slice(0, Math.max(0, this.#entriesLeft));
      this.#entriesLeft -= visible.length;
      if (this.#entriesLeft <= 0)
        this.add(folder, `more than ${MAX_ENTRIES} entries; the rest was not looked at`);
      return visible.sort((one, other) => (one.name < other.name ? -1 : 1));
    } catch (error) {
      if (errnoCode(error) !== 'ENOENT') this.add(folder, whyUnreadable(error));
      return [];
    }
  }

  async modelFiles(folder: string, depth = MAX_DEPTH): Promise<string[]> {
    const found: string[] = [];
    for (const entry of await this.entries(folder)) {
      const path = join(folder, entry.name);
      if (entry.isDirectory() && depth > 0) found.push(...(await this.modelFiles(path, depth - 1)));
      else if (!entry.isDirectory() && isModelFileName(entry.name)) found.push(path);
    }
    return found;
  }

  async projectorIn(folder: string): Promise<{ readonly projector?: { readonly path: string } }> {
    const found = (await this.entries(folder)).find(
      (entry) => !entry.isDirectory() && isProjectorFileName(entry.name),
    );
    return found === undefined ? {} : { projector: { path: join(folder, found.name) } };
  }

  async text(path: string, maxBytes: number): Promise<string | null> {
    const text = await this.optionalText(path, maxBytes);
    if (text === undefined) this.add(path, 'ENOENT');
    return text ?? null;
  }

  /** Undefined if it does not exist; null, with a problem noted, if it cannot be read. */
  async optionalText(path: string, maxBytes: number): Promise<string | null | undefined> {
    try {
      const { size } = await stat(path);
      if (size <= maxBytes) return await readFile(path, 'utf8');
      this.add(path, `it is larger than ${maxBytes} bytes`);
    } catch (error) {
      if (errnoCode(error) === 'ENOENT') return undefined;
      this.add(path, whyUnreadable(error));
    }
    return null;
  }

  /** Resolves links; null, with a problem noted, if the file is outside `root`. */
  async contained(
    root: string,
    path: string,
    isInside: (folder: string, path: string) => boolean,
  ): Promise<string | null> {
    try {
      const real = await realpath(path);
      if (isInside(root, real)) return real;
      this.add(path, 'it points outside the store');
    } catch (error) {
      this.add(path, errnoCode(error) === 'ENOENT' ? 'it is a broken link' : whyUnreadable(error));
    }
    return null;
  }
}

export interface ModelGroup {
  readonly stem: string;
  readonly paths: readonly string[];
}

export function groupModels(paths: readonly string[], notes: ScanNotes): ModelGroup[] {
  const present = new Set(paths);
  const groups: ModelGroup[] = [];
  for (const path of paths) {
    const split = Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1;
    const [folder, name] = [path.slice(0, split), path.slice(split)];
    const shard = parseShardName(name);
    if (!shard) {
      groups.push({ stem: modelStem(name), paths: [path] });
      continue;
    }
    const all = shardNames(shard).map((shardName) => folder + shardName);
    const missing = all.filter((sibling) => !present.has(sibling));
    if (missing.length === 0 && shard.index === 1) groups.push({ stem: shard.prefix, paths: all });
    if (missing.length > 0 && all.find((sibling) => present.has(sibling)) === path)
      notes.add(path, `${missing.length} of ${shard.count} parts are missing`);
  }
  return groups;
}

export async function existingFolder(path: string, notes: ScanNotes): Promise<string | null> {
  try {
    return await realpath(path);
  } catch (error) {
    if (errnoCode(error) !== 'ENOENT') notes.add(path, whyUnreadable(error));
    return null;
  }
}

function whyUnreadable(error: unknown): string {
  const code = errnoCode(error) ?? String(error);
  return code === 'EACCES' || code === 'EPERM' ? `it is not readable by this user (${code})` : code;
}
