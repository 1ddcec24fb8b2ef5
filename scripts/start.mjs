/** npm start: install if needed, build if stale, serve in the foreground. */
import { ensureBuilt, ensureInstalled, requireNode } from './prepare.mjs';

requireNode();
await ensureInstalled();
await ensureBuilt();
process.argv.splice(2, 0, 'serve');
await import('../bin/hearth.js');
