/**
 * Checks with the model's weights that this library on this CPU gives an input the same vector everywhere: with all
 * threads, with one, and in a context for parallel work. No context may compute meanwhile.
 */
import type { EmbeddingContexts, EmbeddingModel } from '../model.ts';
import type { NativeContext } from '../native.ts';

/** Tokens above the longest input of the class before: whole groups of rows, and some left over. */
const TRIED = [1, 38];

export function vectorsDepend({ contexts, vocabulary, facts }: EmbeddingModel): string | null {
  let shorter = 0;
  for (const each of contexts) {
    const lengths = new Set(
      TRIED.map((more) => Math.min(shorter + more, each.longest, each.longestParallel)),
    );
    for (const length of lengths) {
      const tokens = Uint32Array.from({ length }, (_, at) => (1 + at * 7919) % vocabulary.size);
      if (!isSame(each, tokens, facts.threads))
        return `on this processor, the vector of an input of ${length} tokens depends on the threads that compute it`;
    }
    shorter = each.longest;
  }
  return null;
}

function isSame({ context, parallel }: EmbeddingContexts, tokens: Uint32Array, threads: number): boolean {
  const ways: [NativeContext, number][] = [
    [context, 1],
    ...parallel.slice(0, 1).flatMap((each): [NativeContext, number][] => [
      [each, 1],
      [each, threads],
    ]),
    // Last, because it computes with all threads from here on.
    [context, threads],
  ];
  const found = ways.map(([each, count]) => vectorBits(each, tokens, count));
  return found.every((bits) => bits.equals(found[0] ?? Buffer.alloc(0)));
}

function vectorBits(context: NativeContext, tokens: Uint32Array, threads: number): Buffer {
  context.setThreads(threads);
  context.initBatch(tokens.length);
  context.clearSequence(0);
  context.addToBatch(0, 0, tokens, Uint32Array.of(tokens.length - 1));
  context.decodeBatch();
  const vector = Float32Array.from(context.embedding(0));
  return Buffer.from(vector.buffer);
}
