/**
 * node bench/gpu/pack.mjs FOLDER [--vulkan]: everything that bench/gpu/gpu.sh needs on a Linux x64 machine with a GPU and
 * no network: Node, Hearth with its packages, the benchmark, and llama.cpp's source in the release that
 * Hearth calls; with --vulkan npm's library for Vulkan as well. The machine brings CUDA's toolkit, CMake and a compiler.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { writeBundle } from '../../scripts/bundle/bundle.mjs';
import { installedLock, npmOutput } from '../../scripts/packages.mjs';
import { ensureBuilt, ensureInstalled, requireNode, root, run } from '../../scripts/prepare.mjs';

const LIBRARIES = 'src/lib/files/native-library.ts';
/** Of llama.cpp's source: what the CPU's and CUDA's libraries, llama-server and llama-bench are made of. */
const SOURCES = [
  'CMakeLists.txt',
  'LICENSE',
  'cmake',
  'common',
  'ggml',
  'include',
  'licenses',
  'scripts/ui-assets.cmake',
  'src',
  'tools',
  'vendor',
];
const OTHER_BACKENDS = /^ggml\/src\/ggml-(?!cpu|cuda|base|backend)[a-z]+\//;
const NOT_COMPILED = /^tools\/ui\/(?!CMakeLists|.*\.(?:cpp|h|cmake|in))|\/tests?\/|\.(?:md|png|svg|html|py)$/;
/** In packages: what only node-llama-cpp itself needs. */
const UNUSED = /(?:llama-addon\.node|libllama-common\.so)$/;

requireNode();
const { values, positionals } = parseArgs({
  options: { vulkan: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const [target] = positionals;
if (target === undefined || `${process.platform}-${process.arch}` !== 'linux-x64') {
  console.error('usage, on Linux x64: node bench/gpu/pack.mjs FOLDER [--vulkan]');
  process.exit(2);
}
await ensureInstalled();
await ensureBuilt();
const version = /PACKAGE_VERSION = '([\d.]+)'/.exec(readFileSync(path.join(root, LIBRARIES), 'utf8'))?.[1];
if (version === undefined) throw new Error(`${LIBRARIES} names no PACKAGE_VERSION`);
mkdirSync(target, { recursive: true });
const folder = mkdtempSync(path.join(tmpdir(), 'hearth-gpu-'));
const at = (...parts) => path.join(folder, ...parts);
try {
  mkdirSync(at('load', 'hearth'), { recursive: true });
  execFileSync('strip', ['-o', at('load', 'node'), process.execPath]);
  copyHearth(at('load', 'hearth'));
  await copyBenchmark(path.resolve(target, 'bench'));
  copyLlama(at('load', 'llama.cpp'));
  const packages = at('load', 'hearth', 'node_modules', '@node-llama-cpp');
  if (values.vulkan) {
    const name = 'linux-x64-vulkan';
    unpack(`@node-llama-cpp/${name}@${version}`, path.join(packages, name));
  }
  const archive = path.resolve(target, 'load.tar.xz');
  // One solid block: the packages share most of their libraries.
  const xz = 'xz --x86 --lzma2=preset=9,dict=256MiB';
  execFileSync('tar', ['-c', '-I', xz, '-f', archive, '--sort=name', '-C', at('load'), '.'], {
    stdio: 'inherit',
  });
  copyFileSync(path.join(root, 'bench', 'gpu', 'gpu.sh'), path.resolve(target, 'gpu.sh'));
  console.log(`${archive}: ${(statSync(archive).size / 2 ** 20).toFixed(1)} MiB`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function copyHearth(to) {
  const names = ['bin', 'dist', 'package.json', 'models/hearth-mini'];
  const packages = Object.keys(installedLock().packages).filter((place) => place !== '');
  const filter = (file) => !UNUSED.test(file);
  for (const name of [...names, ...packages.filter((place) => isHere(place))])
    cpSync(path.join(root, name), path.join(to, name), { recursive: true, filter });
}

function isHere(place) {
  return statSync(path.join(root, place), { throwIfNoEntry: false }) !== undefined;
}

async function copyBenchmark(to) {
  run(process.execPath, [
    path.join(root, 'node_modules', 'typescript', 'bin', 'tsc'),
    '-p',
    'tsconfig.bench.json',
  ]);
  const compiled = path.join(root, 'generated', 'bench', 'bench', 'gpu');
  const input = { gpu: path.join(compiled, 'alone.js'), occupy: path.join(compiled, 'occupy.js') };
  await writeBundle(to, { input, cwd: root, external: [/^koffi$/], chunks: '[name]-[hash].js' });
}

/** From the archive that npm has of node-llama-cpp: its libraries are built from this source. */
function copyLlama(to) {
  unpack(`node-llama-cpp@${version}`, at('package'));
  const clone = at('source');
  execFileSync('git', ['clone', '--quiet', at('package', 'llama', 'gitRelease.bundle'), clone], {
    stdio: 'ignore',
  });
  const filter = (file) => {
    const name = path.relative(clone, file);
    return !OTHER_BACKENDS.test(`${name}/`) && !NOT_COMPILED.test(name);
  };
  for (const name of SOURCES)
    cpSync(path.join(clone, name), path.join(to, name), { recursive: true, filter });
}

function unpack(name, to) {
  const [{ filename }] = JSON.parse(npmOutput(['pack', name, '--json', '--pack-destination', folder]));
  const archive = at(filename.replace(/^@/, '').replaceAll('/', '-'));
  mkdirSync(to, { recursive: true });
  const unused = ['--exclude=llama-addon.node', '--exclude=libllama-common.so'];
  execFileSync('tar', ['-x', '-f', archive, '--strip-components=1', '-C', to, ...unused]);
}
