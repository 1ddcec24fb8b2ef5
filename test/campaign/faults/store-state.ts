import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { hashFile } from '../../../src/lib/files/plain-file.ts';
import { openRegistry } from '../../../src/store/registry/registry.ts';

/** What is wrong with the store of this home, or null. */
export async function whyBroken(home: string): Promise<string | null> {
  const registry = openRegistry({ home });
  const [damaged] = await registry.damaged();
  if (damaged !== undefined) return `the manifest of ${damaged.id} is damaged (${damaged.reason})`;
  try {
    for (const model of await registry.list()) await registry.toTarget(model).source.verify();
  } catch (error) {
    return String(error);
  }
  const { blobs } = registry.store.paths;
  for (const name of await readdir(blobs).catch(() => [])) {
    if (!name.startsWith('.') && `sha256-${await hashFile(path.join(blobs, name))}` !== name)
      return `the blob ${name} holds other bytes`;
  }
  return null;
}
