/**
 * Seeded damage that keeps a GGUF file well-formed: settings with other values or types, tensors of another type, another
 * tokenizer over the same vocabulary. Damage to the bytes themselves is that of test/fixtures/gguf/mutants.ts.
 */
import { tensorType, type TensorTypeName } from '../../src/lib/gguf/format/format.ts';
import { f32, type MetadataValue, text, u32 } from '../../tools/gguf/metadata.ts';
import type { Random } from '../../tools/gguf/random.ts';
import { encodeGguf, type GgufContent, type TensorSource } from '../../tools/gguf/writer.ts';
import { slidingWindowContent, recurrentContent } from '../../tools/models/tiny-variants.ts';
import { tinyChatContent } from '../../tools/models/tiny-chat.ts';
import { tinyEmbedContent } from '../../tools/models/tiny-embed.ts';
import { pick } from './campaign.ts';

/** Encoded once: most of a mutant is as it was. */
const BASES: readonly GgufContent[] = [
  tinyChatContent(),
  slidingWindowContent(),
  recurrentContent(),
  tinyEmbedContent(),
].map(({ metadata, tensors }) => ({
  metadata,
  tensors: tensors.map((tensor) => {
    const bytes = Buffer.concat([...tensor.chunks()]);
    return { ...tensor, chunks: () => [bytes] };
  }),
}));
const TOKENIZERS = ['llama', 'gpt2', 'bert', 't5', 'rwkv', 'plamo2', 'gemma4', 'none', 'test', 'other'];
const TYPES: readonly TensorTypeName[] = [
  'F32',
  'F16',
  'BF16',
  'Q8_0',
  'Q4_0',
  'I8',
  'I32',
  'I64',
  'F64',
  'Q8_1',
];
const NUMBERS = [
  0,
  1,
  2,
  3,
  4,
  7,
  8,
  16,
  31,
  32,
  63,
  64,
  65,
  100,
  128,
  256,
  1000,
  4096,
  65_535,
  2 ** 31 - 1,
  2 ** 32 - 1,
];
const FRACTIONS = [0, -0, -1, 1e-30, 1e-5, 0.5, 1, 2, 1e30, -1e30, Infinity, -Infinity, Number.NaN];

export interface GgufMutant {
  readonly changes: readonly string[];
  readonly bytes: Buffer;
}

export function ggufMutant(random: Random): GgufMutant {
  const base = pick(random, BASES);
  const metadata: Record<string, MetadataValue> = { ...base.metadata };
  let tensors: readonly TensorSource[] = base.tensors;
  const changes: string[] = [];
  for (let left = random.below(3); left >= 0; left -= 1) {
    if (random.below(4) === 0) {
      const at = random.below(tensors.length);
      const change = changedTensor(tensors[at], random);
      tensors = tensors.flatMap((tensor, index) => (index === at ? change.tensors : [tensor]));
      changes.push(change.name);
    } else {
      changes.push(changeSetting(metadata, random));
    }
  }
  return { changes, bytes: encodeGguf({ metadata, tensors: [...tensors] }) };
}

function changeSetting(metadata: Record<string, MetadataValue>, random: Random): string {
  const key = random.below(6) === 0 ? 'tokenizer.ggml.model' : pick(random, Object.keys(metadata));
  const value = metadata[key];
  if (random.below(12) === 0) {
    delete metadata[key];
    return `${key} away`;
  }
  if (key === 'tokenizer.ggml.model') metadata[key] = text(pick(random, TOKENIZERS));
  else if (value?.type === 'f32' || random.below(8) === 0) metadata[key] = f32(pick(random, FRACTIONS));
  else if (value?.type === 'u32' || value?.type === 'i32') metadata[key] = u32(pick(random, NUMBERS));
  else if (value?.type === 'bool') metadata[key] = { type: 'bool', value: random.below(2) === 0 };
  else if (value?.type === 'string')
    metadata[key] = text(pick(random, ['', 'x', 'default', 'yarn', 'llama']));
  else return `${key} kept`;
  const now = metadata[key];
  return `${key} = ${now !== undefined && 'value' in now ? String(now.value) : '?'}`;
}

/** The same tensor in another type, with weights of it, or away, or of another shape. */
function changedTensor(
  tensor: TensorSource | undefined,
  random: Random,
): { readonly name: string; readonly tensors: readonly TensorSource[] } {
  if (tensor === undefined) return { name: 'no tensor', tensors: [] };
  const choice = random.below(8);
  if (choice === 0) return { name: `${tensor.name} away`, tensors: [] };
  const elements = tensor.dims.reduce((all, each) => all * each, 1);
  if (choice === 1) {
    const dims = [...tensor.dims].reverse();
    if ((dims[0] ?? 1) % blockSizeOf(tensor) !== 0) return { name: `${tensor.name} kept`, tensors: [tensor] };
    return { name: `${tensor.name} turned`, tensors: [{ ...tensor, dims }] };
  }
  const type = pick(random, TYPES);
  const next = tensorType(type);
  if ((tensor.dims[0] ?? 1) % next.blockSize !== 0) return { name: `${tensor.name} kept`, tensors: [tensor] };
  const bytes = Buffer.alloc((elements / next.blockSize) * next.blockBytes, random.below(2));
  return {
    name: `${tensor.name} as ${type}`,
    tensors: [{ ...tensor, type, chunks: () => [bytes] }],
  };
}

const blockSizeOf = ({ type }: TensorSource): number => tensorType(type).blockSize;
