/**
 * The sound file that the broken ones start from: the tiny chat model, made once and with
 * its weights kept, since hundreds of variants share them.
 */
import { encodeGguf, type GgufContent } from '../gguf/writer.ts';
import { tinyChatContent } from './tiny-chat.ts';

let content: GgufContent | undefined;
let bytes: Buffer | undefined;

export function soundContent(): GgufContent {
  content ??= keepWeights(tinyChatContent());
  return content;
}

/** Shared: copy it before changing it. */
export function soundBytes(): Buffer {
  bytes ??= encodeGguf(soundContent());
  return bytes;
}

function keepWeights(source: GgufContent): GgufContent {
  const tensors = source.tensors.map((tensor) => {
    const chunks = [...tensor.chunks()];
    return { ...tensor, chunks: () => chunks };
  });
  return { ...source, tensors };
}
