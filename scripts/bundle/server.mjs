/**
 * Bundles the compiled server with its packages. Node takes about a third of a millisecond for each module, and the
 * server would be hundreds of them. Nothing is minified: the bundle can be read, and a stack trace leads into it.
 */
import path from 'node:path';
import { writeBundle } from './bundle.mjs';

/** What is started as a process or a thread of its own, by its name below the sources and below the bundle. */
const ENTRIES = [
  'cli/main',
  'worker/main',
  'worker/sealed',
  'server/api/intake/schema-thread',
  'server/api/fit/read-thread',
  'lib/gguf/gate-thread',
  'worker/media/webp-thread',
];

/** Native, or installed by the user: they are loaded from node_modules. */
export const OUTSIDE = [/^koffi$/, /^@opentelemetry\//];

/** prom-client asks for the open span, and must load where nobody has installed OpenTelemetry. */
const isInside = (name, importer) =>
  name === '@opentelemetry/api' && (importer ?? '').split(path.sep).includes('prom-client');

const isOutside = (name, importer) => OUTSIDE.some((each) => each.test(name)) && !isInside(name, importer);

/** What the package does not export: one of its decoders without all others. */
const aliases = (root) => ({
  'icodec/webp-dec.js': path.join(root, 'node_modules', 'icodec', 'dist', 'webp-dec.js'),
});

export async function bundleServer(root, sources, folder) {
  const input = Object.fromEntries(ENTRIES.map((name) => [name, path.join(sources, `${name}.js`)]));
  await writeBundle(folder, {
    input,
    cwd: root,
    external: isOutside,
    resolve: { alias: aliases(root) },
    moduleTypes: { '.wasm': 'binary' },
    chunks: 'parts/[name]-[hash].js',
  });
}
