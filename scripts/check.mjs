/** npm run check: everything that can be said about the code without running it; all steps run, then the verdict. */
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { ensureBuilt, ensureInstalled, requireNode, root } from './prepare.mjs';

requireNode();
await ensureInstalled();
await ensureBuilt();
const bin = (name) => path.join(root, 'node_modules', '.bin', name);
const steps = [
  ['format', bin('biome'), ['format', '.']],
  [
    'lint',
    bin('oxlint'),
    ['--type-aware', 'src', 'packages', 'ui', 'tools', 'test', 'bench', 'scripts', 'bin'],
  ],
  ['types', bin('tsc'), ['--noEmit', '-p', 'tsconfig.json']],
  ['types of the page', bin('tsc'), ['--noEmit', '-p', path.join('test', 'ui', 'tsconfig.json')]],
  ['unused code', bin('knip'), []],
  ['generated files', process.execPath, [path.join('scripts', 'generate.mjs'), '--check']],
  ['import laws and docs in step', bin('vitest'), ['run', 'test/architecture']],
  ['plain English', bin('vitest'), ['run', 'test/style']],
];
const failed = steps.filter(([name, command, args]) => {
  console.log('==', name);
  return (
    spawnSync(command, args, { cwd: root, stdio: 'inherit', shell: process.platform === 'win32' }).status !==
    0
  );
});
if (failed.length > 0) console.error(`failed: ${failed.map(([name]) => name).join(', ')}`);
process.exit(failed.length > 0 ? 1 : 0);
