/**
 * npm run pack [-- --to FOLDER] [-- --bundled]: builds the package that is installed with `npm install --global`.
 * Assembled in a folder of its own, because two of its files must not lie in a checkout: npm-shrinkwrap.json, which pins
 * every package by its hash on the user's machine as well, and sbom.cdx.json, the bill of materials. What dist/ contains
 * is not installed beside it; the licences of that go with the package.
 * With --bundled it carries the packages of this platform, without what only developers need of them, and is installed
 * without a network.
 */
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { billOfMaterials } from './sbom.mjs';
import { installedLock, installedManifest, npmOutput, runningLock } from './packages.mjs';
import { ensureBuilt, ensureInstalled, requireNode, root } from './prepare.mjs';

/** Of the packages in the bundles. */
const LICENCES = 'THIRD-PARTY-LICENSES.txt';
const IS_LICENCE = /^(?:licen[cs]e|notice|copying)/i;
const PLATFORM = `${process.platform}-${process.arch}`;

requireNode();
await ensureInstalled();
await ensureBuilt();
const { values } = parseArgs({ options: { to: { type: 'string' }, bundled: { type: 'boolean' } } });
const target = path.resolve(values.to ?? '.');
mkdirSync(target, { recursive: true });
const folder = mkdtempSync(path.join(tmpdir(), 'hearth-pack-'));
try {
  assemble(folder, values.bundled === true);
  const [{ filename, size, unpackedSize }] = JSON.parse(
    npmOutput(['pack', folder, '--ignore-scripts', '--json', '--pack-destination', folder]),
  );
  console.error(`${megabytes(size)} MB packed, ${megabytes(unpackedSize)} MB unpacked:`);
  const name = values.bundled === true ? filename.replace(/\.tgz$/, `-${PLATFORM}.tgz`) : filename;
  copyFileSync(path.join(folder, filename), path.join(target, name));
  console.log(path.join(target, name));
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function assemble(folder, bundled) {
  const manifest = installedManifest();
  const write = (name, text) => writeFileSync(path.join(folder, name), text);
  const writeJson = (name, value) => write(name, `${JSON.stringify(value, null, 2)}\n`);
  for (const name of [...manifest.files, 'README.md', 'LICENSE'])
    cpSync(path.join(root, name), path.join(folder, name), { recursive: true, filter: isShipped });
  writeJson('sbom.cdx.json', billOfMaterials());
  write(LICENCES, licencesOfBundled());
  const files = [...manifest.files, 'sbom.cdx.json', LICENCES];
  if (bundled) {
    // npm would look for the optional packages of other platforms.
    const { optionalDependencies = {}, ...rest } = manifest;
    const here = Object.entries({ ...rest.dependencies, ...optionalDependencies }).filter(([name]) =>
      isInstalled(path.join('node_modules', name)),
    );
    const bundleDependencies = here.map(([name]) => name);
    writeJson('package.json', { ...rest, files, dependencies: Object.fromEntries(here), bundleDependencies });
    copyPackages(folder);
  } else {
    writeJson('npm-shrinkwrap.json', installedLock());
    writeJson('package.json', { ...manifest, files: [...files, 'npm-shrinkwrap.json'] });
  }
}

/** The licences ask for their texts to go with copies, and the bundles are copies. */
function licencesOfBundled() {
  const beside = installedLock().packages;
  const places = Object.keys(runningLock().packages).filter((place) => !(place in beside));
  const compiled = path.join(root, 'packaging', 'licences');
  const ofCompiled = readdirSync(compiled).map((file) => readFileSync(path.join(compiled, file), 'utf8'));
  return `${[...places.map(licenceOf), ...ofCompiled].join(`\n\n${'-'.repeat(80)}\n\n`)}\n`;
}

function licenceOf(place) {
  const folder = path.join(root, place);
  const { name, version, license } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'));
  const texts = readdirSync(folder)
    .filter((file) => IS_LICENCE.test(file))
    .map((file) => readFileSync(path.join(folder, file), 'utf8').trim());
  return [`${name} ${version} (${license})`, ...texts].join('\n\n');
}

/** The stamp of the build says when this checkout was built; nothing of that belongs to the package. */
function isShipped(file) {
  return path.basename(file) !== '.stamp';
}

function isInstalled(place) {
  return existsSync(path.join(root, place, 'package.json'));
}

/** More than half of the files in packages are for who develops with them: types, maps, tests, guides. */
function isForDevelopers(name) {
  const parts = name.split(path.sep);
  const file = parts.at(-1) ?? '';
  if (IS_LICENCE.test(file)) return false;
  if (parts.slice(0, -1).some((part) => /^(?:tests?|__tests__|examples?|benchmarks?|\.github)$/.test(part)))
    return true;
  return /\.(?:[cm]?ts|map|flow|md|markdown)$/.test(file);
}

function copyPackages(folder) {
  for (const place of Object.keys(installedLock().packages).filter(
    (place) => place !== '' && isInstalled(place),
  )) {
    const from = path.join(root, place);
    const filter = (file) => {
      const name = path.relative(from, file);
      return !name.split(path.sep).includes('node_modules') && !isForDevelopers(name);
    };
    cpSync(from, path.join(folder, place), { recursive: true, filter });
  }
}

function megabytes(bytes) {
  return (bytes / 1e6).toFixed(1);
}
