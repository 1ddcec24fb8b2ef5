/** Writes a bundle for Node: modules as they are, one file per entry and `chunks` for what several of them need. */
import { rolldown } from 'rolldown';

export async function writeBundle(folder, { chunks, minify = false, ...input }) {
  const bundle = await rolldown({ platform: 'node', logLevel: 'warn', ...input });
  await bundle.write({
    dir: folder,
    format: 'esm',
    minify,
    entryFileNames: '[name].js',
    chunkFileNames: chunks,
  });
  await bundle.close();
}
