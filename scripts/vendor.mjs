/**
 * Build step: bundles typebox into the vendor/ folder of the build and points the compiled imports there. The package is some seven hundred
 * small modules, and loading them one by one costs more than half of the time from start to the first answer.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { rolldown } from 'rolldown';
import { root } from './prepare.mjs';

const vendored = {
  typebox: 'typebox',
  'typebox/value': 'typebox-value',
  'typebox/compile': 'typebox-compile',
};

export async function vendor(dist) {
  const input = Object.fromEntries(Object.entries(vendored).map(([name, file]) => [file, name]));
  const bundle = await rolldown({ input, cwd: root, platform: 'node', logLevel: 'warn' });
  await bundle.write({
    dir: path.join(dist, 'vendor'),
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'typebox-shared-[hash].js',
  });
  await bundle.close();
  for (const file of compiledFiles(dist)) pointToVendor(dist, file);
}

function compiledFiles(dist) {
  return readdirSync(dist, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.js') && !name.startsWith('vendor'))
    .map((name) => path.join(dist, name));
}

function pointToVendor(dist, file) {
  const text = readFileSync(file, 'utf8');
  const folder = path.relative(path.dirname(file), path.join(dist, 'vendor')).replaceAll('\\', '/');
  const prefix = folder.startsWith('.') ? folder : `./${folder}`;
  const pointed = text.replaceAll(/(\bfrom\s+|^import\s+)'(typebox(?:\/\w+)?)'/gm, (whole, lead, name) => {
    const target = vendored[name];
    if (target === undefined)
      throw new Error(`${file} imports ${name}, which scripts/vendor.mjs does not know`);
    return `${lead}'${prefix}/${target}.js'`;
  });
  if (pointed !== text) writeFileSync(file, pointed);
}
