/**
 * Fetches llama.cpp's chat templates and vocabularies into the folder that is named, from the npm package that carries its
 * sources as a git bundle. Nothing of the package is installed or run.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import path from 'node:path';

const PACKAGE = 'node-llama-cpp@3.22.1';

const [folder] = process.argv.slice(2);
if (folder === undefined) {
  process.stderr.write('usage: node test/corpus/fetch.mjs FOLDER\n');
  process.exit(2);
}
mkdirSync(folder, { recursive: true });
const packed = run('npm', ['pack', '--silent', PACKAGE]).trim();
run('tar', ['-xzf', packed, 'package/llama/gitRelease.bundle']);
run('git', ['clone', '--quiet', path.join('package', 'llama', 'gitRelease.bundle'), 'llama.cpp']);
run('mv', [path.join('llama.cpp', 'models'), 'models']);
process.stdout.write(`HEARTH_CORPUS=${path.resolve(folder, 'models')} npx vitest run test/corpus\n`);

function run(command, args) {
  const { status, stdout } = spawnSync(command, args, {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (status !== 0) {
    process.stderr.write(`${command} ${args.join(' ')} failed\n`);
    process.exit(1);
  }
  return stdout;
}
