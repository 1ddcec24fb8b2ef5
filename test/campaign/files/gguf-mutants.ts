/**
 * Seeded damage that keeps a GGUF file well-formed: settings with other values or types, tensors of another type, another
 * tokenizer over the same vocabulary. Damage to the bytes themselves is that of test/fixtures/gguf/mutants.ts.
 */
import { tensorType, type TensorTypeName } from '../../../packages/gguf/src/format/format.ts';
import { f32, type MetadataValue, text, u32 } from '../../../tools/gguf/metadata.ts';
import type { Random } from '../../../tools/gguf/random.ts';
import { encodeGguf, type GgufContent, type TensorSource } from '../../../tools/gguf/writer.ts';
import { slidingWindowContent, recurrentContent } from '../../../tools/models/tiny-variants.ts';
import { tinyChatContent } from '../../../tools/models/tiny-chat.ts';
import { tinyEmbedContent } from '../../../tools/models/tiny-embed.ts';
import { pick } from '../campaign.ts';

/** Encoded once: most of a mutant is as it was. */
const BASES = {
  chat: encoded(tinyChatContent()),
  'sliding-window': encoded(slidingWindowContent()),
  recurrent: encoded(recurrentContent()),
  embedding: encoded(tinyEmbedContent()),
};
type BaseName = keyof typeof BASES;

function encoded({ metadata, tensors }: GgufContent): GgufContent {
  return {
    metadata,
    tensors: tensors.map((tensor) => {
      const bytes = Buffer.concat([...tensor.chunks()]);
      return { ...tensor, chunks: () => [bytes] };
    }),
  };
}

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
const FRACTIONS = [
  '0',
  '-0',
  '-1',
  '1e-30',
  '1e-5',
  '0.5',
  '1',
  '2',
  '1e30',
  '-1e30',
  'Infinity',
  '-Infinity',
  'NaN',
];
const WORDS = ['', 'x', 'default', 'yarn', 'llama'];

/** One thing that differs from the base; as JSON, so that a finding can be kept. */
export type Change =
  | { readonly key: string; readonly away: true }
  | { readonly key: string; readonly type: 'u32' | 'f32' | 'bool' | 'string'; readonly value: string }
  | { readonly tensor: string; readonly becomes: 'away' | 'turned' | TensorTypeName };

export interface GgufCase {
  readonly base: BaseName;
  readonly changes: readonly Change[];
}

export function randomCase(random: Random): GgufCase {
  const base = pick(random, Object.keys(BASES) as BaseName[]);
  const { metadata, tensors } = BASES[base];
  const changes: Change[] = [];
  for (let left = random.below(3); left >= 0; left -= 1) {
    changes.push(
      random.below(4) === 0 ? changeOfTensor(pick(random, tensors).name, random) : changeOf(metadata, random),
    );
  }
  return { base, changes };
}

function changeOf(metadata: Readonly<Record<string, MetadataValue>>, random: Random): Change {
  const key = random.below(6) === 0 ? 'tokenizer.ggml.model' : pick(random, Object.keys(metadata));
  if (random.below(12) === 0) return { key, away: true };
  if (key === 'tokenizer.ggml.model') return { key, type: 'string', value: pick(random, TOKENIZERS) };
  const type = metadata[key]?.type;
  if (type === 'f32' || random.below(8) === 0) return { key, type: 'f32', value: pick(random, FRACTIONS) };
  if (type === 'bool') return { key, type: 'bool', value: pick(random, ['true', 'false']) };
  if (type === 'string') return { key, type: 'string', value: pick(random, WORDS) };
  // An array that becomes a number is damage of its own kind.
  return { key, type: 'u32', value: String(pick(random, NUMBERS)) };
}

function changeOfTensor(tensor: string, random: Random): Change {
  const choice = random.below(8);
  return { tensor, becomes: choice === 0 ? 'away' : choice === 1 ? 'turned' : pick(random, TYPES) };
}

export function bytesOf({ base, changes }: GgufCase): Buffer {
  const metadata: Record<string, MetadataValue> = { ...BASES[base].metadata };
  let tensors = BASES[base].tensors;
  for (const change of changes) {
    // A case that changes nothing would never fail again.
    const isThere =
      'tensor' in change
        ? BASES[base].tensors.some(({ name }) => name === change.tensor)
        : change.key in BASES[base].metadata;
    if (!isThere) throw new Error(`${base} has no ${'tensor' in change ? change.tensor : change.key}`);
    if ('tensor' in change) {
      tensors = tensors.flatMap((tensor) =>
        tensor.name === change.tensor ? changedTensor(tensor, change.becomes) : [tensor],
      );
    } else if ('away' in change) {
      delete metadata[change.key];
    } else {
      metadata[change.key] = valueOf(change);
    }
  }
  return encodeGguf({ metadata, tensors: [...tensors] });
}

function valueOf({ type, value }: { readonly type: string; readonly value: string }): MetadataValue {
  if (type === 'string') return text(value);
  if (type === 'bool') return { type: 'bool', value: value === 'true' };
  return type === 'f32' ? f32(Number(value)) : u32(Number(value));
}

/** The same tensor in another type, with weights of it, or away, or of another shape; as it was where that cannot be. */
function changedTensor(
  tensor: TensorSource,
  becomes: 'away' | 'turned' | TensorTypeName,
): readonly TensorSource[] {
  if (becomes === 'away') return [];
  if (becomes === 'turned') {
    const dims = [...tensor.dims].reverse();
    return (dims[0] ?? 1) % tensorType(tensor.type).blockSize === 0 ? [{ ...tensor, dims }] : [tensor];
  }
  const next = tensorType(becomes);
  if ((tensor.dims[0] ?? 1) % next.blockSize !== 0) return [tensor];
  const elements = tensor.dims.reduce((all, each) => all * each, 1);
  const bytes = Buffer.alloc((elements / next.blockSize) * next.blockBytes, 1);
  return [{ ...tensor, type: becomes, chunks: () => [bytes] }];
}
