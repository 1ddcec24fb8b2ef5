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
  'api/intake/schema-thread',
  'api/fit/read-thread',
  'lib/gguf/gate-thread',
];

/** Native, or installed by the user: they are loaded from node_modules. */
export const OUTSIDE = [/^koffi$/, /^@opentelemetry\//];

/** prom-client asks for the open span, and must load where nobody has installed OpenTelemetry. */
const isInside = (name, importer) =>
  name === '@opentelemetry/api' && (importer ?? '').split(path.sep).includes('prom-client');

const isOutside = (name, importer) => OUTSIDE.some((each) => each.test(name)) && !isInside(name, importer);

export async function bundleServer(root, sources, folder) {
  const input = Object.fromEntries(ENTRIES.map((name) => [name, path.join(sources, `${name}.js`)]));
  await writeBundle(folder, { input, cwd: root, external: isOutside, chunks: 'parts/[name]-[hash].js' });
}
