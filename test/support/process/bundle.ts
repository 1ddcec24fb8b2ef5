/** Bundles a TypeScript script of the tests, with everything it imports, so that a child process starts fast. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rolldown } from 'rolldown';

/** Returns the path of the script; `remove` deletes it again. */
export async function bundleScript(entry: string): Promise<{ path: string; remove: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'hearth-script-'));
  const bundle = await rolldown({ input: entry, platform: 'node', logLevel: 'silent' });
  await bundle.write({ dir: folder, format: 'esm', entryFileNames: 'script.mjs' });
  await bundle.close();
  return { path: join(folder, 'script.mjs'), remove: () => rm(folder, { recursive: true, force: true }) };
}
