import { lstat, readdir } from 'node:fs/promises';
import path from 'node:path';
import type { Command } from 'commander';
import { readable } from '../../../lib/base/byte-size.ts';
import { cacheFolder } from '../../../lib/files/cache-folder.ts';
import { librariesFolder } from '../../../lib/files/native-library.ts';
import { storePaths } from '../../../store/files/paths.ts';
import { type CliContext, printable } from '../../context.ts';
import { localRegistry } from '../../local-registry.ts';
import { logFolder } from '../../log/log-files.ts';

interface Part {
  readonly name: string;
  readonly bytes: number;
}

export function registerDu(program: Command, context: CliContext): void {
  program
    .command('du')
    .description('show how much disk space Hearth takes, and for what')
    .option('--json', 'one JSON document')
    .action(async (flags: { json?: boolean }) => {
      const config = context.config();
      const parts = await measureParts(config.home);
      const total = parts.reduce((sum, { bytes }) => sum + bytes, 0);
      const models = await localRegistry(config).list();
      // Keyed by path, because copies of a model share its files.
      const inPlace = new Map(
        models
          .flatMap(({ files }) => files)
          .flatMap((file) => ('path' in file ? [[file.path, file.sizeBytes] as const] : [])),
      );
      const inPlaceBytes = [...inPlace.values()].reduce((sum, bytes) => sum + bytes, 0);
      if (flags.json === true) {
        const bytes = Object.fromEntries(parts.map(({ name, bytes: size }) => [name, size]));
        return context.printJson({ home: config.home, total, ...bytes, inPlace: inPlaceBytes });
      }
      context.print(printable(line(config.home, total, parts)));
      if (inPlaceBytes > 0)
        context.note(`Models that lie elsewhere and are used there: ${readable(inPlaceBytes)} more.`);
    });
}

function line(home: string, total: number, parts: readonly Part[]): string {
  const shown = parts.filter(({ bytes }) => bytes > 0).map(({ name, bytes }) => `${name} ${readable(bytes)}`);
  return `${readable(total)} in ${home}${shown.length === 0 ? '' : `: ${shown.join(', ')}`}`;
}

async function measureParts(home: string): Promise<Part[]> {
  const { blobs, partial } = storePaths(home);
  const folders: readonly (readonly [name: string, folder: string])[] = [
    ['models', blobs],
    ['downloads', partial],
    ['cache', cacheFolder(home)],
    ['libraries', librariesFolder(home)],
    ['responses', path.join(home, 'responses')],
    ['logs', logFolder(home)],
  ];
  const seen = new Set<string>();
  const parts: Part[] = [];
  // The home comes last: files counted before, also under another name, are not counted again.
  for (const [name, folder] of [...folders, ['other', home] as const])
    parts.push({ name, bytes: await bytesBelow(folder, seen) });
  return parts;
}

async function bytesBelow(folder: string, seen: Set<string>): Promise<number> {
  let sum = 0;
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) sum += await bytesBelow(file, seen);
    else sum += await countBytes(file, seen);
  }
  return sum;
}

async function countBytes(file: string, seen: Set<string>): Promise<number> {
  const found = await lstat(file, { bigint: true }).catch(() => null);
  if (found === null || seen.has(`${found.dev} ${found.ino}`)) return 0;
  seen.add(`${found.dev} ${found.ino}`);
  return Number(found.size);
}
