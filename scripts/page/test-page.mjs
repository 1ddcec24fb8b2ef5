/** npm run test:ui: the page in a real browser, against the built service; arguments go to vitest. */
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { findChromium } from './chromium.mjs';
import { ensureBuilt, ensureInstalled, requireNode, root } from '../prepare.mjs';

requireNode();
const chromium = findChromium();
if (chromium === null) {
  console.error('No Chromium was found. Install one (apt-get install chromium), or name it in CHROMIUM.');
  process.exit(2);
}
await ensureInstalled();
await ensureBuilt();
const vitest = path.join(root, 'node_modules', 'vitest', 'vitest.mjs');
const { status } = spawnSync(
  process.execPath,
  [vitest, 'run', '--config', 'vitest.ui.config.ts', ...process.argv.slice(2)],
  { cwd: root, stdio: 'inherit', env: { ...process.env, CHROMIUM: chromium } },
);
process.exit(status ?? 1);
