/** Writes a model of realistic shape with random weights, for speed measurements only; keep it out of the repository. */
import { parseArgs } from 'node:util';
import {
  LARGE_SHAPES,
  LARGE_TYPES,
  type LargeShape,
  type LargeType,
  writeLarge,
} from '../tools/models/large.ts';
import { writeTinyEmbed } from '../tools/models/tiny-embed.ts';

/** The size of the usual small embedding models, such as BERT base. */
const EMBEDDING = { name: 'Bench Embed', layers: 12, feedForward: 3072 };

export async function writeBenchModel(argv: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...argv],
    options: {
      embedding: { type: 'boolean', default: false },
      shape: { type: 'string', default: '0.6b' },
      type: { type: 'string', default: 'Q4_K_M' },
    },
    allowPositionals: true,
  });
  const [file] = positionals;
  const usage = 'FILE [--embedding] [--shape 0.6b|1b|8b] [--type Q4_K_M|Q8_0|F16]';
  if (file === undefined) throw new Error(`usage: npm run bench -- model ${usage}`);
  const options = {
    shape: oneOf<LargeShape>('--shape', values.shape, LARGE_SHAPES),
    type: oneOf<LargeType>('--type', values.type, LARGE_TYPES),
  };
  await (values.embedding ? writeTinyEmbed(file, EMBEDDING) : writeLarge(file, options));
  console.log(file);
}

function oneOf<T extends string>(option: string, value: string, known: readonly T[]): T {
  const found = known.find((each) => each === value);
  if (found === undefined) throw new Error(`${option} is one of ${known.join(', ')}, and not ${value}`);
  return found;
}
