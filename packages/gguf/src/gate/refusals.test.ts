import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { brokenGgufs } from '../../../../test/fixtures/gguf/broken.ts';
import { entry, putTogether, takeApart } from '../../../../test/fixtures/gguf/raw-gguf.ts';
import { refusalReasons } from '../../../../test/fixtures/gguf/refusal-reasons.ts';
import { soundBytes, soundContent } from '../../../../test/fixtures/gguf/sound-base.ts';
import { tinyEmbedContent } from '../../../../tools/models/tiny-embed.ts';
import { GgufError } from '../gguf-error.ts';
import { inspectGguf } from './inspect.ts';
import {
  encodeScalar,
  encodeText,
  f32,
  flag,
  type MetadataValue,
  scalars,
  text,
  texts,
  u32,
} from '../../../../tools/gguf/metadata.ts';
import { encodeGguf, type GgufContent } from '../../../../tools/gguf/writer.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hearth-refusals-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** The reason why the bytes are refused, or "accepted". */
async function reasonFor(bytes: Uint8Array, name = 'model.gguf'): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, bytes);
  try {
    await inspectGguf(path);
    return 'accepted';
  } catch (error) {
    if (!(error instanceof GgufError)) throw error;
    return error.message;
  }
}

function describedAs(
  entries: Record<string, MetadataValue | undefined>,
  base: GgufContent = soundContent(),
): Buffer {
  const kept = Object.entries({ ...base.metadata, ...entries }).filter(
    (pair): pair is [string, MetadataValue] => {
      return pair[1] !== undefined;
    },
  );
  return encodeGguf({ ...base, metadata: Object.fromEntries(kept) });
}

describe('the reasons given for broken models', () => {
  const broken = brokenGgufs();

  it('are listed for every one of them, and for no other', () => {
    expect(Object.keys(refusalReasons).sort()).toEqual(broken.map(({ name }) => name).sort());
  });

  it.each(broken)('$mutation $name: says what is wrong', async ({ name, bytes }) => {
    expect(await reasonFor(bytes())).toBe(refusalReasons[name]);
  });
});

describe('settings that cannot be', () => {
  const u16 = (value: number): MetadataValue => ({ type: 'u16', value });
  const cases: readonly [string, Record<string, MetadataValue | undefined>, string | RegExp][] = [
    [
      'an architecture with a space',
      { 'general.architecture': text('a b') },
      'general.architecture is not a name',
    ],
    ['an architecture that is a number', { 'general.architecture': u32(1) }, /stored as u32 where a string/],
    ['a projector', { 'general.type': text('mmproj') }, /projector \(mmproj\)/],
    ['an adapter', { 'general.type': text('adapter') }, /LoRA adapter/],
    ['an importance matrix', { 'general.type': text('imatrix') }, /importance matrix/],
    ['no context length', { 'llama.context_length': undefined }, 'llama.context_length is missing'],
    ['a negative count', { 'llama.block_count': { type: 'i32', value: -1 } }, /block_count is -1/],
    [
      'a count beyond 2^53',
      { 'llama.block_count': { type: 'u64', value: 2n ** 64n - 1n } },
      /block_count is 18446744073709551615/,
    ],
    ['as many groups as experts', experts(4, 2, 4, 1), /divides 4 experts into 4 groups/],
    ['uneven groups', experts(9, 2, 2, 1), /uses 1 of 2 groups of 9 experts/],
    ['all groups used', experts(8, 2, 2, 2), /uses 2 of 2 groups/],
    [
      'heads for too few layers',
      { 'llama.attention.head_count': scalars('u32', [4]) },
      /one integer for each of the 2/,
    ],
    [
      'heads in fractions',
      { 'llama.attention.head_count': scalars('f32', [4.5, 4]) },
      /one integer for each/,
    ],
    ['no heads in one layer', { 'llama.attention.head_count': scalars('u32', [4, 0]) }, /no attention heads/],
    [
      'no key heads in one layer',
      { 'llama.attention.head_count_kv': scalars('u32', [2, 0]) },
      /no attention heads/,
    ],
    ['heads without width', { 'llama.attention.key_length': u32(0) }, 'its attention heads have no width'],
    ['rotation beyond a head', { 'llama.rope.dimension_count': u32(18) }, /does not fit heads of 16/],
    ['rotation of a part in llama', { 'llama.rope.dimension_count': u32(8) }, /heads are 16 wide/],
    [
      'embeddings of another width',
      { 'llama.embedding_length': u32(128), 'llama.rope.dimension_count': u32(32) },
      /64 wide where embedding_length says 128/,
    ],
    ['no tokenizer', { 'tokenizer.ggml.model': undefined }, 'tokenizer.ggml.model is missing'],
    ['no tokens', { 'tokenizer.ggml.tokens': undefined }, 'tokenizer.ggml.tokens is missing'],
    [
      'tokens that are numbers',
      { 'tokenizer.ggml.tokens': scalars('u32', [1, 2]) },
      /not an array of strings/,
    ],
    ['an empty vocabulary', { 'tokenizer.ggml.tokens': texts([]) }, 'its vocabulary is empty'],
    ['fewer tokens than embeddings', { 'tokenizer.ggml.tokens': texts(['Ċ']) }, /462 rows for 1 tokens/],
    ['a flag that is a number', { 'tokenizer.ggml.add_bos_token': u32(1) }, /stored as u32 where bool/],
    ['a template that is a number', { 'tokenizer.chat_template': f32(1) }, /stored as f32 where a string/],
    [
      'a hostile named template',
      { 'tokenizer.chat_template.tool_use': text('{{ x.__class__ }}') },
      /tool_use reaches/,
    ],
    [
      'a name of megabytes',
      { 'general.name': text('n'.repeat(2 ** 21)) },
      'general.name is 2097152 bytes long',
    ],
    ['a part without a number', { 'split.count': u16(2) }, 'split.no is missing'],
    ['a key with a control character', { 'a\u0007b': u32(1) }, /metadata key contains a control character/],
    [
      'a token of megabytes',
      { 'tokenizer.ggml.tokens': texts(['x'.repeat(2 ** 20)]) },
      /a token is 1048576 bytes long/,
    ],
  ];

  it.each(cases)('refuses %s', async (_, entries, reason) => {
    const actual = await reasonFor(describedAs(entries));
    if (typeof reason === 'string') expect(actual).toBe(reason);
    else expect(actual).toMatch(reason);
  });

  it('refuses a WordPiece vocabulary without its frame', async () => {
    const without = (key: string): Buffer =>
      describedAs({ [`tokenizer.ggml.${key}`]: u32(0xffff_ffff) }, shortVocabulary());
    expect(await reasonFor(without('seperator_token_id'))).toBe('its vocabulary has no [SEP] token');
    const neither = describedAs(
      { 'tokenizer.ggml.cls_token_id': undefined, 'tokenizer.ggml.bos_token_id': undefined },
      shortVocabulary(),
    );
    expect(await reasonFor(neither)).toBe('its vocabulary has no [CLS] token');
  });

  it('accepts the flags and ids that go together', async () => {
    expect(await reasonFor(describedAs({ 'tokenizer.ggml.add_bos_token': flag(true) }))).toBe('accepted');
  });
});

describe('structures that cannot be', () => {
  it('refuses a model without tensors', async () => {
    expect(await reasonFor(encodeGguf({ ...soundContent(), tensors: [] }))).toBe('it holds no tensors');
  });

  it('refuses every cut through the header with the place', async () => {
    for (const at of [24, 30, 40, 60, 400, 3000, 9000, 12_000]) {
      expect(await reasonFor(soundBytes().subarray(0, at))).toMatch(
        /left$|the file ends inside .* at byte \d+$/,
      );
    }
  });

  it('refuses sizes that 64 bits cannot hold', async () => {
    const parts = takeApart(soundContent());
    Object.assign(parts.tensors[0] ?? {}, { dims: [2n ** 31n, 2n ** 31n], typeCode: 0 });
    expect(await reasonFor(putTogether(parts))).toMatch(/more bytes than can be counted/);
  });

  it('refuses a vocabulary of more than four million tokens before reading it', async () => {
    const parts = takeApart(soundContent());
    const head = [encodeScalar('u32', 9), encodeScalar('u32', 8), encodeScalar('u64', 4_194_305)];
    parts.entries = [Buffer.concat([encodeText('tokenizer.ggml.tokens'), ...head])];
    const path = join(folder, 'sparse.gguf');
    await writeFile(path, putTogether(parts));
    await truncate(path, 100_000_000);
    await expect(inspectGguf(path)).rejects.toThrow(/vocabulary has 4194305 tokens/);
  });

  it('refuses a key of more than 64 KiB, and more text than it would keep', async () => {
    expect(await reasonFor(describedAs({ ['k'.repeat(65_536)]: u32(1) }))).toMatch(
      /65536 bytes long; the limit is 65535/,
    );
    const parts = takeApart(soundContent());
    const megabyte = text('m'.repeat(2 ** 20));
    for (let index = 0; index < 33; index += 1) parts.entries.push(entry(`text${index}`, megabyte));
    expect(await reasonFor(putTogether(parts))).toBe(
      'its metadata texts and short arrays exceed 33554432 bytes',
    );
  });

  it('refuses more numbers in short arrays than it would keep', async () => {
    const parts = takeApart(soundContent());
    const head = [encodeScalar('u32', 9), encodeScalar('u32', 0), encodeScalar('u64', 4096)];
    const array = Buffer.concat([...head, Buffer.alloc(4096)]);
    const add = (count: number) => {
      const from = parts.entries.length;
      for (let index = from; index < from + count; index += 1)
        parts.entries.push(Buffer.concat([encodeText(`numbers${index}`), array]));
    };
    add(1000);
    expect(await reasonFor(putTogether(parts))).toBe('accepted');
    add(50);
    expect(await reasonFor(putTogether(parts))).toBe(
      'its metadata texts and short arrays exceed 33554432 bytes',
    );
  });

  it('reads long arrays of numbers and texts without keeping them', async () => {
    const long = describedAs({
      'extra.numbers': scalars(
        'f64',
        Array.from({ length: 50_000 }, (_, index) => index),
      ),
      'extra.texts': texts(Array.from({ length: 50_000 }, (_, index) => `text ${index}`)),
      'extra.long': texts(['t'.repeat(600_000), 'u']),
    });
    expect(await reasonFor(long)).toBe('accepted');
  });

  it('names other kinds of files', async () => {
    const of = (bytes: Uint8Array | string): Promise<string> => reasonFor(Buffer.from(bytes));
    expect(await of('PK\u0003\u0004')).toMatch(/ZIP/);
    expect(await of('{"error":"not found"}')).toMatch(/JSON/);
    expect(await of(Buffer.concat([encodeScalar('u64', 100), Buffer.from('{"a":{}}')]))).toMatch(
      /safetensors/,
    );
    expect(await of('lmgg\u0001\u0000\u0000\u0000')).toMatch(/before GGUF/);
    expect(await of(encodeText('hello'))).toMatch(/does not begin with the letters GGUF/);
  });
});

function experts(
  count: number,
  used: number,
  groups: number,
  usedGroups: number,
): Record<string, MetadataValue> {
  return {
    'llama.expert_count': u32(count),
    'llama.expert_used_count': u32(used),
    'llama.expert_group_count': u32(groups),
    'llama.expert_group_used_count': u32(usedGroups),
  };
}

/** The embedder with so few tokens that WordPiece's default ids lie beyond them. */
function shortVocabulary(): GgufContent {
  const base = tinyEmbedContent({ width: 384, contextLength: 32 });
  const [, ...others] = base.tensors;
  const tokens = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]', '▁a', 'a'];
  const embedding = {
    name: 'token_embd.weight',
    type: 'F32' as const,
    dims: [384, tokens.length],
    chunks: () => [new Uint8Array(384 * tokens.length * 4)],
  };
  const metadata = {
    ...base.metadata,
    'tokenizer.ggml.tokens': texts(tokens),
    'tokenizer.ggml.token_type': scalars(
      'i32',
      tokens.map(() => 1),
    ),
  };
  return { metadata, tensors: [embedding, ...others] };
}

describe('what llama.cpp would abort on only when it computes', () => {
  const embed = () => tinyEmbedContent();
  const typed = (base: GgufContent, name: string, type: 'I32' | 'F16'): GgufContent => ({
    ...base,
    tensors: base.tensors.map((tensor) =>
      tensor.name === name
        ? {
            ...tensor,
            type,
            chunks: () => [
              Buffer.alloc(tensor.dims.reduce((all, each) => all * each, type === 'I32' ? 4 : 2)),
            ],
          }
        : tensor,
    ),
  });

  it.each<[string, Record<string, MetadataValue>, RegExp]>([
    ['another tokenizer', { 'tokenizer.ggml.model': text('llama') }, /no token for the byte \d+/],
    ['the tokenizer of RWKV', { 'tokenizer.ggml.model': text('rwkv') }, /no token for the byte \d+/],
    ['the tokenizer of tests', { 'tokenizer.ggml.model': text('test') }, /one for tests/],
    ['a negative epsilon', { 'llama.attention.layer_norm_rms_epsilon': f32(-1) }, /0 to 1 is accepted/],
    ['an infinite epsilon', { 'llama.attention.layer_norm_rms_epsilon': f32(Infinity) }, /0 to 1/],
    ['an epsilon that is no number', { 'llama.attention.layer_norm_rms_epsilon': f32(Number.NaN) }, /0 to 1/],
    ['no convolution', { 'llama.ssm.conv_kernel': u32(0) }, /2 to 1024 is accepted/],
    ['no state', { 'llama.ssm.state_size': u32(0) }, /1 to 1048576 is accepted/],
    ['an unknown pooling', { 'llama.pooling_type': u32(8) }, /0 to 4 is accepted/],
  ])('is refused: %s', async (_, entries, reason) => {
    expect(await reasonFor(describedAs(entries))).toMatch(reason);
  });

  it('is refused: tensors of types that nothing computes with', async () => {
    const chat = encodeGguf(typed(soundContent(), 'output_norm.weight', 'I32'));
    expect(await reasonFor(chat)).toContain(
      '"output_norm.weight" is stored as I32, which is no type for weights',
    );
    const table = encodeGguf(typed(embed(), 'token_types.weight', 'F16'));
    expect(await reasonFor(table)).toContain('"token_types.weight" is stored as F16 where F32 is required');
  });
});
