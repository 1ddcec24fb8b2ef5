/** Calls of the library as a worker makes them, with nothing around: no batch loop, no planner, no messages. */
import { chatContext } from '../../src/worker/load/chat.ts';
import { toLoadOptions } from '../../src/worker/load/load-options.ts';
import type { LoadOptions, NativeContext, NativeModel, NativeSampler } from '../../src/worker/native.ts';
import { text } from '../words.ts';

export interface Bare {
  readonly model: NativeModel;
  readonly threads: number;
}

/** As `compare` asks servers by default: on the CPU, nothing else chosen. */
export const OPTIONS: LoadOptions = {
  ...toLoadOptions({ gpu: 'off' }),
  tensorBuffers: [],
  adapterPaths: [],
  draftPath: null,
};
/** Room for the prompt and the answer of one sequence. */
export const DECODE_CTX = 512;
const PROMPT_TOKENS = 30;
const NO_LOGITS = new Uint32Array();

/** As `compare` asks a server. */
const SAMPLING = { temperature: 1, topK: 40, topP: 1, minP: 0 };

export interface Stream {
  readonly sequence: number;
  readonly sampler: NativeSampler;
  position: number;
  token: number;
}

export function begin(bare: Bare, context: NativeContext, streams: number, seed: number): Stream[] {
  const all: Stream[] = [];
  for (let sequence = 0; sequence < streams; sequence += 1) {
    const prompt = tokensOf(bare, PROMPT_TOKENS, seed * 100 + sequence);
    const sampler = newSampler(bare, prompt, seed);
    context.clearSequence(sequence);
    const token = evaluatePrompt(context, sequence, prompt, sampler);
    all.push({ sequence, sampler, position: prompt.length, token });
  }
  return all;
}

export function evaluatePrompt(
  context: NativeContext,
  sequence: number,
  prompt: Uint32Array,
  sampler: NativeSampler,
): number {
  let row = 0;
  for (let at = 0; at < prompt.length; at += context.batchTokens) {
    const chunk = prompt.subarray(at, at + context.batchTokens);
    const isLast = at + chunk.length === prompt.length;
    context.initBatch(chunk.length);
    const rows = context.addToBatch(
      sequence,
      at,
      chunk,
      isLast ? Uint32Array.of(chunk.length - 1) : NO_LOGITS,
    );
    context.decodeBatch();
    row = rows[0] ?? 0;
  }
  return chosen(context, row, sampler);
}

/** A token that would end the answer is decoded like any other. */
export function decodeStep(context: NativeContext, together: readonly Stream[]): void {
  context.initBatch(together.length);
  const rows = together.map(({ sequence, position, token }) =>
    context.addToBatch(sequence, position, Uint32Array.of(token), Uint32Array.of(0)),
  );
  context.decodeBatch();
  for (const [at, stream] of together.entries()) {
    stream.position += 1;
    stream.token = chosen(context, rows[at]?.[0] ?? 0, stream.sampler);
  }
}

function chosen(context: NativeContext, row: number, sampler: NativeSampler): number {
  const token = context.sample(row, sampler);
  if (token === null) throw new Error('no token can be chosen, although no grammar forbids any');
  return token;
}

export function newSampler({ model }: Bare, recentTokens: Uint32Array, seed: number): NativeSampler {
  const sampler = model.newSampler();
  sampler.configure({
    sampling: SAMPLING,
    seed,
    grammar: null,
    recentTokens: [...recentTokens],
    numCtx: DECODE_CTX,
    allCandidates: false,
  });
  return sampler;
}

export function tokensOf({ model }: Bare, count: number, seed: number): Uint32Array {
  return model.vocabulary.tokenize(text(count, seed), false).slice(0, count);
}

/** The context that a worker opens for so many sequences of such a window. */
export async function withContext<T>(
  { model, threads }: Bare,
  sequences: number,
  window: number,
  use: (context: NativeContext) => T,
): Promise<T> {
  const cells = sequences * window;
  const context = await model.newContext(
    chatContext(OPTIONS, { cells, sequences, threads, unified: false, draftTokens: 0 }),
  );
  try {
    return use(context);
  } finally {
    context.dispose();
  }
}
