/** Writes a model of realistic shape with random weights, for speed measurements only; keep it out of the repository. */
import { parseArgs } from 'node:util';
import { writeLarge } from '../tools/models/large.ts';
import { writeTinyEmbed } from '../tools/models/tiny-embed.ts';

/** The size of the usual small embedding models, such as BERT base. */
const EMBEDDING = { name: 'Bench Embed', layers: 12, feedForward: 3072 };

export async function writeBenchModel(argv: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...argv],
    options: { embedding: { type: 'boolean', default: false } },
    allowPositionals: true,
  });
  const [file] = positionals;
  if (file === undefined) throw new Error('usage: npm run bench -- model FILE [--embedding]');
  await (values.embedding ? writeTinyEmbed(file, EMBEDDING) : writeLarge(file));
  console.log(file);
}
