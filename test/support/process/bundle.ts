/** Bundles a TypeScript script of the tests, with everything it imports, so that a child process starts fast. */
import { mkdir, mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { packageFolder } from '../../../src/lib/base/package-folder.ts';
import { removeFolder } from '../remove-folder.ts';

/** Inside the package, or the script would not find it. */
const SCRIPTS = join(packageFolder, 'generated', 'scripts');

/** Returns the path of the script; `remove` deletes it again. */
export async function bundleScript(entry: URL): Promise<{ path: string; remove: () => Promise<void> }> {
  await mkdir(SCRIPTS, { recursive: true });
  const folder = await mkdtemp(join(SCRIPTS, 'script-'));
  const bundle = await rolldown({ input: fileURLToPath(entry), platform: 'node', logLevel: 'silent' });
  await bundle.write({ dir: folder, format: 'esm', entryFileNames: 'script.mjs' });
  await bundle.close();
  return { path: join(folder, 'script.mjs'), remove: () => removeFolder(folder) };
}
