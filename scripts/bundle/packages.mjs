/**
 * Bundles the packages that `imports` in package.json names. They are hundreds of small modules, and loading those one by
 * one costs each test file, and each tool, more than its own work.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { writeBundle } from './bundle.mjs';

export async function bundlePackages(root, folder) {
  const { imports } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
  // A bundle of a CommonJS package has no named exports by itself, so every one passes through an entry that has them.
  const entries = path.join(folder, 'entries');
  mkdirSync(entries, { recursive: true });
  const input = {};
  for (const { default: target, types: name } of Object.values(imports)) {
    const names = Object.keys(await import(name)).filter((each) => each !== 'module.exports');
    const entry = path.basename(target, '.js');
    input[entry] = path.join(entries, `${entry}.mjs`);
    writeFileSync(input[entry], `export { ${names.join(', ')} } from '${name}';\n`);
  }
  await writeBundle(folder, { input, cwd: root, chunks: 'shared-[hash].js' });
  rmSync(entries, { recursive: true });
}
