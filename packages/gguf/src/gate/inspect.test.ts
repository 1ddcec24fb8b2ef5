import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { brokenGgufs } from '../../../../test/fixtures/gguf/broken.ts';
import { largeContent } from '../../../../tools/models/large.ts';
import { tinyChatContent, writeTinyChat } from '../../../../tools/models/tiny-chat.ts';
import { tinyEmbedContent, writeTinyEmbed } from '../../../../tools/models/tiny-embed.ts';
import { recurrentContent, slidingWindowContent } from '../../../../tools/models/tiny-variants.ts';
import { inspectGguf, inspectGgufPart } from './inspect.ts';
import { type MetadataValue, scalars, text, u32 } from '../../../../tools/gguf/metadata.ts';
import { vectorTensor } from '../../../../tools/gguf/matrix.ts';
import { encodeGguf, encodeHeader, type GgufContent } from '../../../../tools/gguf/writer.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hearth-gate-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function place(name: string, bytes: Uint8Array): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, bytes);
  return path;
}

function changed(content: GgufContent, metadata: Record<string, MetadataValue>): GgufContent {
  return { ...content, metadata: { ...content.metadata, ...metadata } };
}

async function inspect(content: GgufContent, name = 'model.gguf') {
  return inspectGguf(await place(name, encodeGguf(content)));
}

describe('the facts of a model', () => {
  it('count the bytes of its experts by layer, and its layers that predict further tokens', async () => {
    const content = changed(tinyChatContent(), { 'llama.nextn_predict_layers': u32(1) });
    const expert = (name: string) => vectorTensor(name, 64, 0);
    const tensors = ['blk.1.ffn_up_exps.weight', 'blk.1.ffn_down_exps.weight', 'blk.0.ffn_up_shexp.weight'];
    const facts = await inspect({ ...content, tensors: [...content.tensors, ...tensors.map(expert)] });
    expect([facts.expertBytes, facts.mtpLayers]).toEqual([[0, 512], 1]);
    const plain = await inspect(tinyChatContent());
    expect([plain.expertBytes, plain.mtpLayers]).toEqual([[], 0]);
  });

  it('describe the tiny chat model', async () => {
    const path = join(folder, 'chat.gguf');
    const sizeBytes = await writeTinyChat(path);
    const facts = await inspectGguf(path);
    expect(facts).toMatchObject({
      architecture: 'llama',
      name: 'Tiny Chat',
      kind: 'chat',
      contextLength: 2048,
      embeddingLength: 64,
      blockCount: 2,
      headCountsKv: [2, 2],
      keyLength: 16,
      valueLength: 16,
      quant: 'F16',
      license: 'apache-2.0',
      split: undefined,
      sizeBytes,
    });
    expect(facts.chatTemplate).toContain('<|im_start|>');
    expect(facts.parameterCount).toBe(
      2 * 462 * 64 + 64 + 2 * (64 * 64 * 2 + 64 * 32 * 2 + 3 * 64 * 128 + 2 * 64),
    );
    expect(facts.headerSha256).toMatch(/^[0-9a-f]{64}$/);
  });

  it('describe the tiny embedding model', async () => {
    const path = join(folder, 'embed.gguf');
    await writeTinyEmbed(path);
    const facts = await inspectGguf(path);
    expect(facts).toMatchObject({
      architecture: 'bert',
      kind: 'embedding',
      pooling: 'mean',
      embeddingLength: 768,
      quant: 'Q4_0',
    });
  });

  it('count no heads for a recurrent state, and those of a sliding window like any other', async () => {
    expect(await inspect(slidingWindowContent())).toMatchObject({ kind: 'chat', headCountsKv: [2, 2] });
    expect(await inspect(recurrentContent())).toMatchObject({ kind: 'chat', headCountsKv: [0, 0] });
  });

  it('take a model that writes for an embedding model if it has a pooling type', async () => {
    const pooled = await inspect(changed(tinyChatContent(), { 'llama.pooling_type': u32(3) }));
    expect(pooled).toMatchObject({ kind: 'embedding', pooling: 'last' });
    const unpooled = await inspect(changed(tinyChatContent(), { 'llama.pooling_type': u32(0) }));
    expect(unpooled).toMatchObject({ kind: 'chat', pooling: 'none' });
  });

  it('name the quantisation after most of the bytes if the file does not', async () => {
    const { 'general.file_type': _, ...metadata } = tinyEmbedContent().metadata;
    expect(await inspect({ ...tinyEmbedContent(), metadata })).toMatchObject({ quant: 'Q4_0' });
  });

  it('change their digest with any byte of the header', async () => {
    const one = await inspect(tinyChatContent({ name: 'One' }));
    const two = await inspect(tinyChatContent({ name: 'Two' }));
    expect(one.headerSha256).not.toBe(two.headerSha256);
  });

  it('are read from a header that is longer than one window', async () => {
    const content = largeContent({ layers: 1, vocabularySize: 60_000 });
    const header = await place('header.gguf', encodeHeader(content));
    // Sparse, so that nothing but the header has to be written.
    await truncate(header, 200_000_000);
    expect(await inspectGguf(header)).toMatchObject({ vocabSize: 60_000, quant: 'Q4_K_M' });
  });
});

describe('unknown but possible things', () => {
  it('passes an architecture that it has never heard of', async () => {
    const content = tinyChatContent();
    const renamed = Object.entries(content.metadata).map(([key, value]) => [
      key.replace(/^llama\./, 'later.'),
      value,
    ]);
    const metadata = { ...Object.fromEntries(renamed), 'general.architecture': text('later') };
    expect(await inspect({ ...content, metadata })).toMatchObject({ architecture: 'later', kind: 'chat' });
  });

  it('accepts per-layer head counts, and -1 for a token that does not exist', async () => {
    const content = changed(tinyChatContent(), {
      'llama.attention.head_count_kv': scalars('u32', [2, 1]),
      'tokenizer.ggml.unknown_token_id': u32(0xffff_ffff),
    });
    expect(await inspect(content)).toMatchObject({ headCountsKv: [2, 1] });
  });
});

describe('broken models', () => {
  it('covers all 25 mutations', () => {
    const numbers = new Set(brokenGgufs().map((broken) => broken.mutation));
    expect([...numbers].sort((a, b) => a - b)).toEqual(Array.from({ length: 25 }, (_, index) => index + 1));
  });

  it('leaves only damaged weights to the trial load', async () => {
    const passing = brokenGgufs().filter(({ passesGate }) => passesGate);
    expect(passing.map(({ mutation }) => mutation)).toEqual([25, 25]);
    for (const broken of passing)
      expect(await inspectGguf(await place('weights.gguf', broken.bytes()))).toMatchObject({ kind: 'chat' });
  });

  it('refuses a good header in front of missing gigabytes', async () => {
    const path = await place('sparse.gguf', encodeGguf(tinyChatContent()).subarray(0, 20_000));
    await truncate(path, 100_000);
    await expect(inspectGguf(path)).rejects.toThrow(/was not copied completely/);
  });
});

describe('parts of a split model', () => {
  const u16 = (value: number): MetadataValue => ({ type: 'u16', value });
  const part = (no: number, count: number): GgufContent => {
    return changed(tinyChatContent(), { 'split.no': u16(no), 'split.count': u16(count) });
  };

  it('accepts the first part under its proper name', async () => {
    expect(await inspect(part(0, 2), 'm-00001-of-00002.gguf')).toMatchObject({
      split: { index: 0, count: 2 },
    });
  });

  it('judges later parts by structure only', async () => {
    const bare = { metadata: part(1, 2).metadata, tensors: tinyChatContent().tensors.slice(3, 5) };
    const path = await place('m-00002-of-00002.gguf', encodeGguf(bare));
    await expect(inspectGguf(path)).rejects.toThrow(/name the first part/);
    expect(await inspectGgufPart(path)).toMatchObject({ index: 1, count: 2 });
    await expect(inspectGgufPart(join(folder, 'chat.gguf'))).rejects.toThrow(/not a part/);
  });

  it('refuses a part whose name says something else', async () => {
    await expect(inspect(part(0, 2), 'm-00001-of-00003.gguf')).rejects.toThrow(
      /does not say that it is part/,
    );
  });
});

it('a folder is not a file, and what is missing is told as the system tells it', async () => {
  await expect(inspectGguf(folder)).rejects.toThrow('it is not a file');
  await expect(inspectGguf(join(folder, 'nowhere.gguf'))).rejects.toMatchObject({ code: 'ENOENT' });
});
