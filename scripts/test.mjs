/** npm test: the whole suite over the built server and llama.cpp; arguments go to vitest. Unit tests alone need no build. */
import { findChromium } from './page/chromium.mjs';
import { ensureBuilt, ensureInstalled, requireNode, root } from './prepare.mjs';
import { spawnSync } from 'node:child_process';
import path from 'node:path';

requireNode();
await ensureInstalled();
/** Unit tests that start a thread of the build, or hash it. */
const ON_BUILD = [
  'src/server/api/replay/verify-record.test.ts',
  'src/cli/builtin-models.test.ts',
  'src/lib/gguf/run-gate.test.ts',
  'src/store/registry/',
  'src/trust/identity/identity.test.ts',
];
const paths = process.argv.slice(2).filter((each) => !each.startsWith('-'));
if (paths.length === 0 || !paths.every(isUnit)) await ensureBuilt();

/** Whether all tests below the path are unit tests that need no build. */
function isUnit(name) {
  const below = path.posix.normalize(name);
  return (
    /^(src|packages|ui|tools|bench)\//.test(`${below}/`) &&
    !ON_BUILD.some((each) => each.startsWith(below) || below.startsWith(each))
  );
}
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
