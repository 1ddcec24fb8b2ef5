import { readFileSync } from 'node:fs';
import path from 'node:path';
import { packageFolder } from '../lib/base/package-folder.ts';

export function readVersion(): string {
  const file = path.join(packageFolder, 'package.json');
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}
