/**
 * Builds the page of ui/ into a folder: scripts under names with their hash, one style sheet, one document, and beside each
 * its gzipped form, because browsers take no other coding over plain HTTP. Nothing in it is inline, and nothing is remote.
 */
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';

/** Modules of Node that the verifier of records imports, as the browser has them. */
const BROWSER_MODULES = {
  'node:buffer': 'ui/proof/browser/buffer.ts',
  'node:crypto': 'ui/proof/browser/crypto.ts',
  'node:util': 'ui/proof/browser/util.ts',
};

export async function buildPage(root, folder) {
  mkdirSync(folder, { recursive: true });
  const scripts = await bundleScripts(root, folder);
  const style = writeHashed(folder, 'page.css', styleSheet(path.join(root, 'ui', 'style')));
  const icon = writeHashed(folder, 'icon.svg', readFileSync(path.join(root, 'ui', 'icon.svg'), 'utf8'));
  const document = readFileSync(path.join(root, 'ui', 'index.html'), 'utf8')
    .replaceAll('%script%', scripts.entry)
    .replaceAll(
      '%preloads%',
      scripts.preloads.map((name) => `<link rel="modulepreload" href="${name}">`).join('\n    '),
    )
    .replaceAll('%style%', style)
    .replaceAll('%icon%', icon);
  writeFileSync(path.join(folder, 'index.html'), document);
  copyFileSync(path.join(root, 'ui', 'preview', 'preview.html'), path.join(folder, 'preview.html'));
  for (const name of readdirSync(folder)) {
    writeFileSync(
      path.join(folder, `${name}.gz`),
      gzipSync(readFileSync(path.join(folder, name)), { level: 9 }),
    );
  }
}

async function bundleScripts(root, folder) {
  // Imported late: the packages may just have been installed.
  const { rolldown } = await import('rolldown');
  const worker = await bundled(rolldown, folder, { cwd: root, input: { pdf: 'ui/pdf/pdf-worker.ts' } });
  const entry = await bundled(rolldown, folder, {
    input: { page: 'ui/main.tsx' },
    cwd: root,
    plugins: [emptyModule('node:path')],
    tsconfig: path.join(root, 'ui', 'tsconfig.json'),
    resolve: {
      alias: Object.fromEntries(
        Object.entries(BROWSER_MODULES).map(([name, file]) => [name, path.join(root, file)]),
      ),
    },
    transform: {
      define: { PDF_WORKER: JSON.stringify(worker.fileName) },
      inject: { Buffer: [path.join(root, 'ui', 'proof', 'browser', 'buffer.ts'), 'Buffer'] },
    },
  });
  return { entry: entry.fileName, preloads: entry.imports };
}

/** Writes the scripts of an input, and returns the first of them. */
async function bundled(rolldown, folder, options) {
  const bundle = await rolldown({
    platform: 'browser',
    // A missing module would fail in the browser.
    onLog: (level, log) => {
      if (level !== 'debug') throw new Error(`the page cannot be bundled: ${log.message}`);
    },
    ...options,
  });
  const { output } = await bundle.write({
    dir: folder,
    format: 'esm',
    minify: true,
    entryFileNames: '[name]-[hash].js',
    chunkFileNames: '[name]-[hash].js',
  });
  await bundle.close();
  return output.find((chunk) => chunk.isEntry);
}

/** Modules of the verifier import it for a part that is not used here. */
const emptyModule = (name) => ({
  name: `empty ${name}`,
  resolveId: (id) => (id === name ? `\0${name}` : null),
  load: (id) => (id === `\0${name}` ? 'export default {};' : null),
});

/** The parts in the order of the imports in page.css, without comments and indentation. */
function styleSheet(folder) {
  const list = readFileSync(path.join(folder, 'page.css'), 'utf8');
  return list
    .replaceAll(/@import '\.\/([\w-]+\.css)';/g, (_, name) => readFileSync(path.join(folder, name), 'utf8'))
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .replaceAll(/^\s+/gm, '');
}

function writeHashed(folder, name, text) {
  const hash = createHash('sha256').update(text).digest('base64url').slice(0, 8);
  const hashed = name.replace('.', `-${hash}.`);
  writeFileSync(path.join(folder, hashed), text);
  return hashed;
}
