/** npm start: install if needed, build if stale, serve in the foreground. */
import { ensureBuilt, ensureInstalled, isPrepared, requireNode } from './prepare.mjs';
import { isTaken, wantedAddress } from './wanted-address.mjs';

requireNode();
// Otherwise the service reports it, and knows who has the port.
if (!isPrepared()) await requirePort();
await ensureInstalled();
await ensureBuilt();
process.argv.splice(2, 0, 'serve');
await import('../bin/hearth.js');

async function requirePort() {
  const address = wantedAddress(process.argv.slice(2), process.env);
  if (address === null || !(await isTaken(address))) return;
  console.error(
    `${address.host}:${address.port} is taken by another program or another Hearth; choose another port: npm start -- --port 9000`,
  );
  process.exit(1);
}
