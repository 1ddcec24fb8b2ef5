// The library as Hearth's workers see it, for scripts that feed a model themselves: one sequence, one thread. Compiled by `npx tsc -p tsconfig.bench.json`.
import { bootNative } from '../../generated/bench/src/worker/addon/boot.js';

const ON_CPU = { devices: [], gpuLayers: null, splitMode: null, tensorSplit: null, mainGpu: null, tensorBuffers: [], loadMode: null, mtp: false };
const PLAIN = { sequences: 1, unified: false, threads: 1, flashAttention: null, keyType: null, valueType: null, rope: null };

const backend = await bootNative('off');

export const openVocabulary = async (file) => (await backend.openTexts(file)).vocabulary;

export async function openModel(file, { embeddings = false, numCtx, batchTokens }) {
  const model = await backend.openModel(file, ON_CPU, () => {});
  const { trainedCtx } = model.facts;
  const options = { ...PLAIN, embeddings, numCtx: numCtx ?? trainedCtx, batchTokens, logitRows: embeddings ? null : 1 };
  return { model, options, context: await model.newContext(options) };
}

// In pieces of a batch; returns the row of the last token's logits.
export function evaluate(context, position, tokens) {
  let row = 0;
  for (let at = 0; at < tokens.length; at += context.batchTokens) {
    const piece = tokens.slice(at, at + context.batchTokens);
    context.initBatch(piece.length);
    [row] = context.addToBatch(0, position + at, piece, Uint32Array.of(piece.length - 1));
    context.decodeBatch();
  }
  return row;
}
