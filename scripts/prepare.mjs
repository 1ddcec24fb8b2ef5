/** Installs and builds only when something changed, so that `npm start` and `npm test` work from a fresh clone. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
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
  if (missingPackages().length === 0) return;
  console.error('Installing the packages of package-lock.json: about 235 MB to download, 470 MB on disk …');
  // No package needs an install script, so none may run; prebuilt libraries come as packages.
  // The build needs the development packages, also where NODE_ENV or npm's own settings would leave them out.
  const kinds = ['--include=dev', '--include=optional'];
  await install(['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', ...kinds]);
  const missing = missingPackages();
  if (missing.length === 0) return;
  const some = missing.slice(0, 5).map((name) => name.replace('node_modules/', ''));
  console.error(`npm ci did not install ${some.join(', ')}; check the settings of npm and try again.`);
  process.exit(1);
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

/** Of package-lock.json, by what npm notes of each installation, whoever ran it. */
function missingPackages() {
  const { packages } = JSON.parse(readFileSync(at('package-lock.json'), 'utf8'));
  const { optionalDependencies = {} } = packages[''];
  const installed = installedPackages();
  const isThere = ([name, { version, integrity }]) => {
    const found = installed[name];
    const isSame = found?.version === version && found?.integrity === integrity;
    return found !== undefined && isSame && existsSync(at(name, 'package.json'));
  };
  const isWanted = ([name, entry]) => {
    if (!entry.optional) return name.includes('node_modules/');
    const direct = name.replace('node_modules/', '');
    return Object.hasOwn(optionalDependencies, direct) && isForThisMachine(entry);
  };
  return Object.entries(packages)
    .filter((entry) => isWanted(entry) && !isThere(entry))
    .map(([name]) => name);
}

const isForThisMachine = ({ os, cpu, libc }) =>
  (os?.includes(process.platform) ?? true) &&
  (cpu?.includes(process.arch) ?? true) &&
  (libc?.includes(libcHere()) ?? true);

const libcHere = () =>
  process.report.getReport().header.glibcVersionRuntime === undefined ? 'musl' : 'glibc';

/** None where npm was never run, or did not get to its end. */
function installedPackages() {
  try {
    return JSON.parse(readFileSync(at('node_modules', '.package-lock.json'), 'utf8')).packages;
  } catch {
    return {};
  }
}

export const isPrepared = () => missingPackages().length === 0 && isBuilt();

export async function ensureBuilt() {
  if (!isBuilt()) await build();
}

function isBuilt() {
  const stamp = at('dist', '.stamp');
  const isCurrent = existsSync(stamp) && readFileSync(stamp, 'utf8') === sourceStamp();
  return isCurrent && existsSync(at(sources));
}

/** src/ and packages/ as JavaScript: tools run on it, and the build is made of it. */
const compiled = path.join('generated', 'sources');
const sources = path.join(compiled, 'src');

/** Makes dist/ of src/ and of the page in ui/. Leftovers of deleted sources are never shipped. */
export async function build() {
  console.error('Building …');
  const wanted = sourceStamp();
  // Imported late: the packages may just have been installed.
  const { bundleRouteChecks } = await import('./bundle/route-checks.mjs');
  const { bundleServer } = await import('./bundle/server.mjs');
  const { buildPage } = await import('./page/build-page.mjs');
  const tsc = at('node_modules', 'typescript', 'bin', 'tsc');
  await replaced(compiled, (fresh) =>
    run(process.execPath, [tsc, '-p', 'tsconfig.build.json', '--outDir', fresh]),
  );
  await replaced('dist', async (fresh) => {
    await bundleServer(root, at(sources), fresh);
    await bundleRouteChecks(root, at(sources), path.join(fresh, 'server', 'http'));
    await buildPage(root, path.join(fresh, 'ui'));
    writeFileSync(path.join(fresh, '.stamp'), wanted);
  });
}

/** The new folder is put in place at the end, so that what runs from the old one is not pulled apart. */
async function replaced(folder, make) {
  const fresh = at(`${folder}.next`);
  rmSync(fresh, { recursive: true, force: true });
  await make(fresh);
  rmSync(at(folder), { recursive: true, force: true });
  renameSync(fresh, at(folder));
}

function sourceStamp() {
  const hash = createHash('sha256');
  const names = ['src', 'packages', 'ui', 'scripts/bundle', 'scripts/page']
    .flatMap((folder) => readdirSync(at(folder), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name));
  const others = ['tsconfig.build.json', 'tsconfig.json', 'package.json'].map((name) => at(name));
  for (const name of [...names, ...others].sort()) {
    const { size, mtimeMs } = statSync(name);
    hash.update(`${name} ${size} ${mtimeMs}\n`);
  }
  return hash.digest('hex');
}
