/** Installs and builds only when something changed, so that `npm start` and `npm test` work from a fresh clone. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const at = (...parts) => path.join(root, ...parts);
export const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';

export function requireNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  console.error(
    `Hearth needs Node 20.19 or newer; this is ${process.versions.node}. Install a newer Node and try again.`,
  );
  process.exit(2);
}

/** Runs a program of this checkout with its output on stderr, because stdout is for the command itself. */
export function run(command, args) {
  execFileSync(command, args, {
    cwd: root,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  });
}

export async function ensureInstalled() {
  const stamp = at('node_modules', '.hearth-lock');
  const lock = createHash('sha256')
    .update(readFileSync(at('package-lock.json')))
    .digest('hex');
  const isCurrent = existsSync(stamp) && readFileSync(stamp, 'utf8') === lock;
  if (isCurrent && missingPackages().length === 0) return;
  console.error('Installing the packages of package-lock.json: about 215 MB to download, 410 MB on disk …');
  // No package needs an install script, so none may run; prebuilt libraries come as packages.
  // The build needs the development packages, also where NODE_ENV or npm's own settings would leave them out.
  const kinds = ['--include=dev', '--include=optional'];
  await install(['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', ...kinds]);
  const missing = missingPackages();
  if (missing.length > 0) {
    console.error(`npm ci did not install ${missing.join(', ')}; check the settings of npm and try again.`);
    process.exit(1);
  }
  writeFileSync(stamp, lock);
}

/** npm says nothing until its end; on a terminal, what has arrived is counted meanwhile. */
async function install(args) {
  const child = spawn(npm, args, {
    cwd: root,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  });
  const isTerminal = process.stderr.isTTY;
  const show = () => process.stderr.write(`\r  ${megabytesIn(at('node_modules'))} MB on disk `);
  const timer = isTerminal ? setInterval(show, 3000) : undefined;
  const [code] = await once(child, 'close');
  clearInterval(timer);
  if (isTerminal) process.stderr.write('\r\u001b[K');
  if (code === 0) return;
  console.error('npm ci failed; what it said is above.');
  process.exit(1);
}

function megabytesIn(folder) {
  let bytes = 0;
  for (const name of existsSync(folder) ? readdirSync(folder, { recursive: true }) : [])
    bytes += statSync(path.join(folder, name), { throwIfNoEntry: false })?.size ?? 0;
  return Math.round(bytes / 1e6);
}

function missingPackages() {
  const { dependencies, devDependencies } = JSON.parse(readFileSync(at('package.json'), 'utf8'));
  return Object.keys({ ...dependencies, ...devDependencies }).filter(
    (name) => !existsSync(at('node_modules', name, 'package.json')),
  );
}

export async function ensureBuilt() {
  const stamp = at('dist', '.stamp');
  const wanted = sourceStamp();
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  await build();
}

/**
 * Compiles src/ to dist/ and the page of ui/ to dist/ui/. The new folder is put in place at the end, so that a service that runs from the old one is
 * not pulled apart, and leftovers of deleted sources are never shipped.
 */
export async function build() {
  console.error('Building …');
  const wanted = sourceStamp();
  const fresh = at('dist.next');
  rmSync(fresh, { recursive: true, force: true });
  const tsc = at('node_modules', 'typescript', 'bin', 'tsc');
  run(process.execPath, [tsc, '-p', 'tsconfig.build.json', '--outDir', fresh]);
  await bundleVendored(fresh);
  const { buildPage } = await import('./page/build-page.mjs');
  await buildPage(root, path.join(fresh, 'ui'));
  writeFileSync(path.join(fresh, '.stamp'), wanted);
  rmSync(at('dist'), { recursive: true, force: true });
  renameSync(fresh, at('dist'));
}

/**
 * Bundles the packages that `imports` in package.json sends to dist/vendor/. They are hundreds of small modules, and
 * loading those one by one costs more than half of the time from start to the first answer.
 */
async function bundleVendored(fresh) {
  // Imported late: the packages may just have been installed.
  const { rolldown } = await import('rolldown');
  const { imports } = JSON.parse(readFileSync(at('package.json'), 'utf8'));
  // A bundle of a CommonJS package has no named exports by itself, so every one passes through an entry that has them.
  const entries = path.join(fresh, 'vendor-entries');
  mkdirSync(entries);
  const input = {};
  for (const { default: target, types: name } of Object.values(imports)) {
    const names = Object.keys(await import(name)).filter((each) => each !== 'module.exports');
    const entry = path.basename(target, '.js');
    input[entry] = path.join(entries, `${entry}.mjs`);
    writeFileSync(input[entry], `export { ${names.join(', ')} } from '${name}';\n`);
  }
  const bundle = await rolldown({ input, cwd: root, platform: 'node', logLevel: 'warn' });
  await bundle.write({
    dir: path.join(fresh, 'vendor'),
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'shared-[hash].js',
  });
  await bundle.close();
  rmSync(entries, { recursive: true });
}

function sourceStamp() {
  const hash = createHash('sha256');
  const names = ['src', 'ui']
    .flatMap((folder) => readdirSync(at(folder), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name));
  const others = ['tsconfig.build.json', 'tsconfig.json', 'package.json', 'scripts/page/build-page.mjs'].map(
    (name) => at(name),
  );
  for (const name of [...names, ...others].sort()) {
    const { size, mtimeMs } = statSync(name);
    hash.update(`${name} ${size} ${mtimeMs}\n`);
  }
  return hash.digest('hex');
}
