/** npm run bench -- NAME …: compiles bench/ and runs one benchmark; without a name it lists them. */
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensureBuilt, ensureInstalled, requireNode, root, run } from './prepare.mjs';

requireNode();
await ensureInstalled();
await ensureBuilt();
run(process.execPath, [
  path.join(root, 'node_modules', 'typescript', 'bin', 'tsc'),
  '-p',
  'tsconfig.bench.json',
]);
const { main } = await import(pathToFileURL(path.join(root, 'generated', 'bench', 'bench', 'main.js')).href);
await main(process.argv.slice(2));
