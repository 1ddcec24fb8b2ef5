/** The gate for projectors that hear: what makes libmtmd end its process is refused with its name. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../test/support/temp-home.ts';
import { encodeGguf, type GgufContent, type TensorSource } from '../../../tools/gguf/writer.ts';
import { AUDIO_FAMILIES, audioContent } from '../../../tools/models/tiny-audio.ts';
import { inspectProjector } from './inspect.ts';

async function inspected(content: GgufContent) {
  const file = path.join(await temporaryFolder(), 'mmproj.gguf');
  await writeFile(file, encodeGguf(content));
  return inspectProjector(file);
}

type Change = (tensors: readonly TensorSource[]) => readonly TensorSource[];
const without =
  (name: string): Change =>
  (tensors) =>
    tensors.filter((tensor) => tensor.name !== name);
const like =
  (name: string, from: string): Change =>
  (tensors) => [
    ...tensors,
    ...tensors.filter((tensor) => tensor.name === from).map((tensor) => ({ ...tensor, name })),
  ];
const NAMES = ['ln1.weight', 'ln1.bias', 'ln2.weight', 'ln2.bias', 'attn_q.bias', 'attn_v.bias'];

describe.each(AUDIO_FAMILIES)('a projector of %s', (family) => {
  it('hears', async () => {
    const facts = await inspected(audioContent({ family }));
    expect(facts).toMatchObject({ type: family, seesImages: false, hearsAudio: true });
  });

  it.each([
    ...NAMES.map(
      (name) => [`without ${name}`, without(`a.blk.0.${name}`), `it has no a.blk.0.${name}`] as const,
    ),
    ['without positions', without('a.position_embd.weight'), 'has 0 positions'],
    [
      'with a bias that Whisper has not',
      like('a.blk.0.attn_k.bias', 'a.blk.0.attn_q.bias'),
      'a.blk.0.attn_k.bias must not be there',
    ],
    [
      'with positions of a second',
      (tensors: readonly TensorSource[]) =>
        like('a.position_embd.weight', 'a.blk.0.attn_q.weight')(without('a.position_embd.weight')(tensors)),
      'has 32 positions',
    ],
  ] as const)('%s is refused', async (_, change, reason) => {
    const { metadata, tensors } = audioContent({ family });
    const refused = inspected({ metadata, tensors: change(tensors) });
    await expect(refused).rejects.toMatchObject({
      code: 'gguf_invalid',
      detail: { reason: expect.stringContaining(reason) },
    });
  });
});
