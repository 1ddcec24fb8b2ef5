/** npm test: the whole suite over the built server and llama.cpp; arguments go to vitest. */
import { findChromium } from './page/chromium.mjs';
import { ensureBuilt, ensureInstalled, requireNode, root } from './prepare.mjs';
import { spawnSync } from 'node:child_process';
import path from 'node:path';

requireNode();
await ensureInstalled();
await ensureBuilt();
if (process.env['HEARTH_CORPUS'] === undefined) {
  console.log(
    'Left out: 43 of 70 chat templates and all 19 vocabularies of other makers; test/corpus/README.md says how to include them.',
  );
}
console.log(
  findChromium() === null
    ? 'The page was not tested: no Chromium was found here. Where there is one, npm run test:ui does it.'
    : 'The page was not tested: npm run test:ui does that in a browser.',
);
const vitest = path.join(root, 'node_modules', 'vitest', 'vitest.mjs');
const { status } = spawnSync(process.execPath, [vitest, 'run', ...process.argv.slice(2)], {
  cwd: root,
  stdio: 'inherit',
});
process.exit(status ?? 1);
