/** Mutations 20 to 25: sound files that describe impossible or hostile models. */
import { f32, flag, type MetadataValue, scalars, text, texts, u32 } from '../gguf/metadata.ts';
import { encodeGguf, type GgufContent } from '../gguf/writer.ts';
import type { BrokenGguf } from './broken-gguf.ts';
import { soundContent } from './sound-base.ts';
import { tinyVocabulary } from './tiny-chat.ts';

type Entries = Readonly<Record<string, MetadataValue>>;

export function brokenMeaning(): BrokenGguf[] {
  return [
    ...wrongVocabulary(),
    ...wrongShape(),
    ...wrongSpecials(),
    ...wrongTemplates(),
    ...wrongSplits(),
    ...wrongWeights(),
  ];
}

/** The tiny model with some metadata replaced, and some left out. */
function described(
  mutation: number,
  name: string,
  entries: () => Entries,
  without: readonly string[] = [],
): BrokenGguf {
  const bytes = (): Buffer => {
    const content = soundContent();
    const kept = Object.entries({ ...content.metadata, ...entries() }).filter(
      ([key]) => !without.includes(key),
    );
    return encodeGguf({ ...content, metadata: Object.fromEntries(kept) });
  };
  return { mutation, name, bytes };
}

function withTokens(change: (tokens: string[]) => void): Entries {
  const tokens = [...tinyVocabulary().tokens];
  change(tokens);
  return { 'tokenizer.ggml.tokens': texts(tokens) };
}

function wrongVocabulary(): BrokenGguf[] {
  const size = tinyVocabulary().tokens.length;
  const numbers = Array.from({ length: size }, () => 1);
  return [
    described(20, 'equal-tokens', () => withTokens((tokens) => tokens.splice(300, 1, tokens[299] ?? ''))),
    described(20, 'equal-special-tokens', () => withTokens((tokens) => tokens.splice(300, 1, '<|im_end|>'))),
    described(20, 'tokens-equal-up-to-nul', () =>
      withTokens((tokens) => tokens.splice(300, 1, `${tokens[299] ?? ''}\0x`)),
    ),
    described(21, 'scores-u8', () => ({ 'tokenizer.ggml.scores': scalars('u8', numbers) })),
    described(21, 'scores-short', () => ({ 'tokenizer.ggml.scores': scalars('f32', numbers.slice(1)) })),
    described(21, 'token-types-u8', () => ({ 'tokenizer.ggml.token_type': scalars('u8', numbers) })),
    described(21, 'token-types-short', () => ({
      'tokenizer.ggml.token_type': scalars('i32', numbers.slice(1)),
    })),
    { mutation: 21, name: 'plamo2-long-tokens', bytes: plamoVocabulary },
  ];
}

/** Tokens of 90 code points, enough of them that the tokenizer's table would not fit into memory. */
function plamoVocabulary(): Buffer {
  const count = 5000;
  const tokens = Array.from({ length: count }, (_, index) => String(index).padStart(90, 'x'));
  const content = soundContent();
  const [embedding, ...others] = content.tensors;
  if (!embedding) throw new TypeError('the tiny model has no tensors');
  const larger = { ...embedding, dims: [64, count], chunks: () => [new Uint8Array(64 * count * 2)] };
  const metadata = {
    ...content.metadata,
    'tokenizer.ggml.model': text('plamo2'),
    'tokenizer.ggml.tokens': texts(tokens),
    'tokenizer.ggml.token_type': scalars(
      'i32',
      tokens.map(() => 1),
    ),
    'tokenizer.ggml.scores': scalars(
      'f32',
      tokens.map(() => 0),
    ),
  };
  return encodeGguf({ metadata, tensors: [larger, ...others] });
}

function wrongShape(): BrokenGguf[] {
  const shape = (mutation: number, name: string, entries: Entries): BrokenGguf =>
    described(mutation, name, () => entries);
  const size = (mutation: number, key: string, value: number): BrokenGguf => {
    return shape(mutation, `${key.replaceAll(/[._]/g, '-')}-${value}`, { [`llama.${key}`]: u32(value) });
  };
  return [
    size(22, 'block_count', 0),
    size(22, 'block_count', 1),
    size(22, 'block_count', 513),
    size(22, 'block_count', 2 ** 31),
    size(22, 'expert_count', 1025),
    shape(22, 'experts-used-beyond', { 'llama.expert_count': u32(4), 'llama.expert_used_count': u32(5) }),
    shape(22, 'experts-unused', { 'llama.expert_count': u32(4) }),
    shape(22, 'rope-scaling-unknown', { 'llama.rope.scaling.type': text('x') }),
    size(22, 'nextn_predict_layers', 3),
    size(23, 'attention.head_count', 0),
    size(23, 'attention.head_count_kv', 8),
    size(23, 'attention.head_count_kv', 3),
    size(23, 'embedding_length', 0),
    size(23, 'embedding_length', 66),
    size(23, 'attention.head_count', 5),
    size(23, 'context_length', 0),
    size(23, 'context_length', 2 ** 32 - 1),
    shape(23, 'rope-dimensions-odd', { 'llama.rope.dimension_count': u32(15) }),
    shape(23, 'block-count-float', { 'llama.block_count': f32(2) }),
    shape(23, 'architecture-x', { 'general.architecture': text('x') }),
    shape(23, 'architecture-megabyte', { 'general.architecture': text('x'.repeat(2 ** 20)) }),
    described(22, 'feed-forward-missing', () => ({}), ['llama.feed_forward_length']),
    described(23, 'architecture-missing', () => ({}), ['general.architecture']),
  ];
}

function wrongSpecials(): BrokenGguf[] {
  return [
    described(24, 'bos-added-but-missing', () => ({ 'tokenizer.ggml.add_bos_token': flag(true) }), [
      'tokenizer.ggml.bos_token_id',
    ]),
    described(24, 'bos-beyond-vocabulary', () => ({ 'tokenizer.ggml.bos_token_id': u32(100_000) })),
    described(24, 'eos-beyond-vocabulary', () => ({
      'tokenizer.ggml.eos_token_id': u32(tinyVocabulary().tokens.length),
    })),
    described(24, 'no-line-feed', () => withTokens((tokens) => tokens.splice(10, 1, 'no line feed'))),
    described(24, 'no-merges', () => ({}), ['tokenizer.ggml.merges']),
    described(24, 'no-vocabulary', () => ({ 'tokenizer.ggml.model': text('none') })),
  ];
}

const HOSTILE_TEMPLATES: Readonly<Record<string, () => string>> = {
  'nested-parentheses': () => `{{ ${'('.repeat(6000)}1${')'.repeat(6000)} }}`,
  'nested-conditions': () => `${'{% if true %}'.repeat(5500)}x${'{% endif %}'.repeat(5500)}`,
  'endless-macro': () => '{% macro f(x) %}{{ f(x) }}{% endmacro %}{{ f(1) }}',
  'billion-range': () => '{% for i in range(10**9) %}{% endfor %}',
  'billion-range-literal': () => '{% for i in range(1000000000) %}{% endfor %}',
  'interpreter-insides': () => "{{ ''.__class__.__mro__[1].__subclasses__() }}",
  'constructor-walk': () => '{{ messages.constructor.constructor("return process")() }}',
  'sixty-four-mebibytes': () => 'x'.repeat(64 * 2 ** 20),
};

function wrongTemplates(): BrokenGguf[] {
  return Object.entries(HOSTILE_TEMPLATES).map(([name, template]) => {
    return described(25, `template-${name}`, () => ({ 'tokenizer.chat_template': text(template()) }));
  });
}

function wrongSplits(): BrokenGguf[] {
  const u16 = (value: number): MetadataValue => ({ type: 'u16', value });
  return [
    described(25, 'split-65535-parts', () => ({ 'split.no': u16(0), 'split.count': u16(65_535) })),
    described(25, 'split-beyond-count', () => ({ 'split.no': u16(7), 'split.count': u16(3) })),
    described(25, 'split-name-escapes', () => ({
      'split.no': u16(0),
      'split.count': u16(2),
      'split.name': text('../../etc/passwd'),
    })),
    described(25, 'split-unnamed', () => ({ 'split.no': u16(0), 'split.count': u16(2) })),
  ];
}

function wrongWeights(): BrokenGguf[] {
  const NOT_A_NUMBER = 0x7e00;
  const INFINITE = 0x7c00;
  return [
    { mutation: 25, name: 'weights-not-a-number', bytes: () => withWeight(NOT_A_NUMBER), passesGate: true },
    { mutation: 25, name: 'weights-infinite', bytes: () => withWeight(INFINITE), passesGate: true },
  ];
}

/** Replaces the first hundred weights of the embedding table, which is stored in half precision. */
function withWeight(half: number): Buffer {
  const content: GgufContent = soundContent();
  const [embedding, ...others] = content.tensors;
  if (!embedding) throw new TypeError('the tiny model has no tensors');
  const bytes = Buffer.concat([...embedding.chunks()]);
  for (let index = 0; index < 100; index += 1) bytes.writeUInt16LE(half, index * 2);
  return encodeGguf({ ...content, tensors: [{ ...embedding, chunks: () => [bytes] }, ...others] });
}
