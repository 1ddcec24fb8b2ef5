import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const packageFolder: string = folderWithManifest(path.dirname(fileURLToPath(import.meta.url)));

export const builtFolder: string = path.join(packageFolder, 'dist');

export function builtFile(name: string): string {
  return path.join(builtFolder, ...name.split('/'));
}

function folderWithManifest(folder: string): string {
  if (existsSync(path.join(folder, 'package.json'))) return folder;
  const parent = path.dirname(folder);
  if (parent === folder) throw new Error('no package.json lies above this program');
  return folderWithManifest(parent);
}
