/** The sources of the product as the architecture tests see them: files, their imports, and the rooms they stand in. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { rooms } from './laws.ts';

const source = path.resolve('src');

export interface Import {
  readonly file: string;
  /** As written. */
  readonly target: string;
  /** Below src/ or beginning with `packages/`, for an import of another source file; else null. */
  readonly resolved: string | null;
  readonly isTypeOnly: boolean;
}

const isProduct = (name: string): boolean =>
  name.endsWith('.ts') && !name.endsWith('.test.ts') && !/^packages\/[^/]+\/(?!src\/)/.test(name);

const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => name.replaceAll('\\', '/'));

/** Every product file, with `/` between the parts of its path below src/; those of packages begin with `packages/`. */
export const files: readonly string[] = [
  ...filesBelow(source),
  ...filesBelow(path.resolve('packages')).map((name) => `packages/${name}`),
]
  .filter(isProduct)
  .sort();

export const textOf = (file: string): string =>
  readFileSync(file.startsWith('packages/') ? path.resolve(file) : path.join(source, file), 'utf8');

/** A package stands beside src/. */
const resolvedFrom = (file: string, target: string): string =>
  path.posix.join(path.posix.dirname(file), target).replace(/^\.\.\/packages\//, 'packages/');

const importPattern =
  /^(?:import|export)\s(type\s)?[^;]*?from\s+'([^']+)'|^import\s+'([^']+)'|\bimport\('([^']+)'\)/gm;

export const imports: readonly Import[] = files.flatMap((file) =>
  [...textOf(file).matchAll(importPattern)].map((match) => {
    const target = match[2] ?? match[3] ?? match[4] ?? '';
    const isRelative = target.startsWith('.');
    return {
      file,
      target,
      resolved: isRelative ? resolvedFrom(file, target) : null,
      isTypeOnly: match[1] !== undefined,
    };
  }),
);

/** Whether a file lies in a room, or is the room. */
export const isWithin = (file: string, room: string): boolean => file === room || file.startsWith(`${room}/`);

/** The longest key of the law that leads to the file, or null. */
export function roomOf(file: string): string | null {
  const within = Object.keys(rooms).filter((room) => isWithin(file, room));
  return within.sort((a, b) => b.length - a.length)[0] ?? null;
}

export const packageNames: readonly string[] = readdirSync(path.resolve('packages')).sort();

/** The files that a package of this repository lets others import, beginning with `packages/`. */
export function exportsOf(name: string): ReadonlySet<string> {
  const manifest = JSON.parse(readFileSync(path.resolve('packages', name, 'package.json'), 'utf8')) as {
    readonly exports: Readonly<Record<string, string>>;
  };
  return new Set(Object.values(manifest.exports).map((file) => path.posix.join('packages', name, file)));
}
