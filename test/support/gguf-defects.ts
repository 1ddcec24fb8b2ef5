/** Defects of model files, seeded in a copy of their bytes: what a bad disk, a bad conversion or too small a quant does. */
import type { TensorPlace } from '../../packages/gguf/src/gate/inspect.ts';

/** Signs of all values of one tensor, or of their scales. */
export function flipped(file: Buffer, { from, bytes }: TensorPlace): Buffer {
  const copy = Buffer.from(file);
  for (let at = from; at < from + bytes; at += 1) copy[at] = (copy[at] ?? 0) ^ 0x80;
  return copy;
}

/** All but the first tokens of at least five bytes become words that no text has. */
export function withoutWords(file: Buffer, kept: number): Buffer {
  const copy = Buffer.from(file);
  let lost = 0;
  for (const [id, { from, length }] of tokensIn(copy).entries()) {
    if (id < kept || length < 5 || copy[from] === 0x3c) continue;
    copy.write(`~${id.toString(36)}`.padEnd(length, '~'), from, length, 'latin1');
    lost += 1;
  }
  if (lost === 0) throw new Error('the vocabulary has no long tokens beyond these');
  return copy;
}

const KEY = 'tokenizer.ggml.tokens';

/** Where the text of each token lies. */
function tokensIn(file: Buffer): { readonly from: number; readonly length: number }[] {
  // Key, type of the value, type of its items.
  let at = file.indexOf(KEY) + KEY.length + 8;
  const count = Number(file.readBigUInt64LE(at));
  at += 8;
  return Array.from({ length: count }, () => {
    const length = Number(file.readBigUInt64LE(at));
    const from = at + 8;
    at = from + length;
    return { from, length };
  });
}
