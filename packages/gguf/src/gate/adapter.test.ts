import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { matrixTensor, zeroMatrix } from '../../../../tools/gguf/matrix.ts';
import { scalars, text, u32 } from '../../../../tools/gguf/metadata.ts';
import { encodeGguf, type GgufContent } from '../../../../tools/gguf/writer.ts';
import { tinyChatContent } from '../../../../tools/models/tiny-chat.ts';
import { tinyLoraContent } from '../../../../tools/models/tiny-lora.ts';
import { type AdapterFacts, whyNotFits } from './adapter.ts';
import { inspectGguf, inspectModelOrAdapter, readTensorShapes } from './inspect.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hearth-adapter-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function place(content: GgufContent, name = 'adapter.gguf'): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, encodeGguf(content));
  return path;
}

async function inspect(content: GgufContent): Promise<AdapterFacts> {
  const facts = await inspectModelOrAdapter(await place(content));
  if (facts.kind !== 'adapter') throw new Error('it was taken for a model');
  return facts;
}

const withTensors = (...tensors: readonly (readonly [name: string, rows: number, columns: number])[]) => ({
  ...tinyLoraContent(),
  tensors: tensors.map(([name, rows, columns]) => matrixTensor(name, zeroMatrix(rows, columns), 'F32')),
});

describe('an adapter', () => {
  it('is described by what it changes', async () => {
    expect(await inspect(tinyLoraContent())).toMatchObject({
      architecture: 'llama',
      name: 'Tiny LoRA',
      alpha: 4,
      targets: [
        { tensor: 'blk.0.attn_q.weight', dims: [64n, 64n] },
        { tensor: 'blk.1.attn_q.weight', dims: [64n, 64n] },
      ],
      parameterCount: 512,
    });
  });

  it('is no model to whoever needs one', async () => {
    const path = await place(tinyLoraContent());
    await expect(inspectGguf(path)).rejects.toThrow('it is a LoRA adapter, not a model');
  });

  it.each([
    [{ 'adapter.type': text('control_vector') }, /adapter of type "control_vector"; only lora/],
    [{ 'adapter.lora.alpha': u32(4) }, /adapter\.lora\.alpha is stored as u32 where f32 is required/],
    [{ 'general.architecture': text('') }, /general\.architecture is missing/],
    [{ 'adapter.alora.invocation_tokens': scalars('u32', [1]) }, /aLoRA/],
  ])('with %o is refused', async (metadata, reason) => {
    await expect(inspect(tinyLoraContent({ metadata }))).rejects.toThrow(reason);
  });

  it.each([
    [withTensors(['x.weight.lora_a', 2, 64]), /has one of its two matrices only/],
    [withTensors(['x.weight', 2, 64]), /"x\.weight" does not belong to a LoRA adapter/],
    [withTensors(['a_norm.weight', 1, 64]), /it changes no tensor/],
    [withTensors(['x.weight.lora_a', 2, 64], ['x.weight.lora_b', 64, 3]), /different ranks/],
  ])('with tensors that make no pairs is refused', async (content, reason) => {
    await expect(inspect(content)).rejects.toThrow(reason);
  });
});

describe('an adapter and a model', () => {
  const whyNot = async (adapter: GgufContent, architecture = 'llama') => {
    const facts = await inspect(adapter);
    const tensors = await readTensorShapes(await place(tinyChatContent(), 'model.gguf'));
    return whyNotFits(facts, { architecture, tensors });
  };

  it('fit where each changed tensor is there, in its size', async () => {
    expect(await whyNot(tinyLoraContent())).toBeNull();
  });

  it('fit for the embeddings too, whose matrices are flipped', async () => {
    const rows = Number(
      (await readTensorShapes(await place(tinyChatContent()))).get('token_embd.weight')?.[1],
    );
    const flipped = withTensors(['token_embd.weight.lora_a', rows, 2], ['token_embd.weight.lora_b', 64, 2]);
    expect(await whyNot(flipped)).toBeNull();
  });

  it.each([
    ['another architecture', tinyLoraContent(), 'qwen3', 'it was made for the architecture llama, not qwen3'],
    [
      'a tensor that is not there',
      tinyLoraContent({ tensors: ['blk.2.attn_q.weight'] }),
      'llama',
      'it changes the tensor "blk.2.attn_q.weight", which the model does not have',
    ],
    [
      'another size',
      tinyLoraContent({ width: 32 }),
      'llama',
      'it changes "blk.0.attn_q.weight" as 32 x 64, which is 64 x 64 in the model',
    ],
  ])('do not fit with %s', async (_, adapter, architecture, reason) => {
    expect(await whyNot(adapter, architecture)).toBe(reason);
  });
});
