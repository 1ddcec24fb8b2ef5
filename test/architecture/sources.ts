/** The sources of the product as the architecture tests see them: files, their imports, and the rooms they stand in. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { rooms } from './laws.ts';

const source = path.resolve('src');

export interface Import {
  readonly file: string;
  /** As written. */
  readonly target: string;
  /** Below src/, for an import of another source file; else null. */
  readonly resolved: string | null;
  readonly isTypeOnly: boolean;
}

/** Every product file, with `/` between the parts of its path below src/. */
export const files: readonly string[] = readdirSync(source, { recursive: true, encoding: 'utf8' })
  .map((name) => name.replaceAll('\\', '/'))
  .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
  .sort();

export const textOf = (file: string): string => readFileSync(path.join(source, file), 'utf8');

const importPattern =
  /^(?:import|export)\s(type\s)?[^;]*?from\s+'([^']+)'|^import\s+'([^']+)'|\bimport\('([^']+)'\)/gm;

export const imports: readonly Import[] = files.flatMap((file) =>
  [...textOf(file).matchAll(importPattern)].map((match) => {
    const target = match[2] ?? match[3] ?? match[4] ?? '';
    const isRelative = target.startsWith('.');
    return {
      file,
      target,
      resolved: isRelative ? path.posix.join(path.posix.dirname(file), target) : null,
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
