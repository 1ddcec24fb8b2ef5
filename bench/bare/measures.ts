/** What llama.cpp itself does with a model, in figures that have the names of those of a server. */
import { embeddingContexts } from '../../src/worker/embedding/contexts.ts';
import type { NativeContext } from '../../src/worker/native.ts';
import { type Figures, perSecond, sum } from '../statistics.ts';
import { text } from '../words.ts';
import {
  type Bare,
  begin,
  DECODE_CTX,
  decodeStep,
  evaluatePrompt,
  newSampler,
  OPTIONS,
  tokensOf,
  withContext,
} from './calls.ts';

const ANSWER_TOKENS = 64;
const MOST_INPUT_TOKENS = 512;

export interface Inputs {
  readonly inputs: number;
  /** Of each. */
  readonly words: number;
  /** Inputs of one call at most. */
  readonly step: number;
  readonly seed: number;
}

/** The streams in one call per step, and each in a call of its own; both over the same prompts. */
export async function decode(bare: Bare, streams: number, seed: number): Promise<Figures> {
  return await withContext(bare, streams, DECODE_CTX, (context) => {
    const rates = [];
    for (const apart of streams === 1 ? [true] : [false, true]) {
      const all = begin(bare, context, streams, seed);
      const steps = apart ? all.map((stream) => [stream]) : [all];
      const begun = performance.now();
      for (let step = 1; step < ANSWER_TOKENS; step += 1)
        for (const together of steps) decodeStep(context, together);
      rates.push(perSecond(streams * (ANSWER_TOKENS - 1), performance.now() - begun));
      for (const { sampler } of all) sampler.dispose();
    }
    const [first = 0, second] = rates;
    return second === undefined
      ? { 'decode tok/s': first }
      : { 'together tok/s': first, 'apart tok/s': second };
  });
}

/** A prompt in calls of the usual size, and its first token. */
export async function prefill(bare: Bare, tokens: number, seed: number): Promise<Figures> {
  const window = tokens + 1;
  return await withContext(bare, 1, window, (context) => {
    const prompt = tokensOf(bare, tokens, seed);
    const sampler = newSampler(bare, prompt, seed);
    const begun = performance.now();
    evaluatePrompt(context, 0, prompt, sampler);
    const ms = performance.now() - begun;
    sampler.dispose();
    return { 'prompt tok/s': perSecond(tokens, ms), 'first token ms': ms };
  });
}

/** As many inputs in one step as the library takes. */
const TOGETHER = { isExact: false, atOnce: 1 };

/** Inputs in steps of at most so many, as far as a context takes them. */
export async function embed(
  { model, threads }: Bare,
  { inputs, words, step, seed }: Inputs,
): Promise<Figures> {
  const limit = Math.min(MOST_INPUT_TOKENS, model.facts.trainedCtx);
  const { prependToken, appendToken } = model.vocabulary;
  const tokenised = performance.now();
  const all = Array.from({ length: inputs }, (_, at) => {
    const body = model.vocabulary.tokenize(text(words, seed * 1000 + at), false);
    return Uint32Array.from([prependToken ?? [], ...body, appendToken ?? []].flat());
  });
  const tokenising = performance.now() - tokenised;
  const longest = Math.max(...all.map(({ length }) => length));
  const plan = embeddingContexts(OPTIONS, { limit, threads, way: TOGETHER }).find(
    (each) => longest <= each.longest,
  );
  if (plan === undefined) throw new Error(`no context takes an input of ${longest} tokens`);
  const context = await model.newContext(plan.options);
  const begun = performance.now();
  for (const together of stepsOf(all, step, plan.tokens)) embedStep(context, together);
  const rate = perSecond(inputs, performance.now() - begun + tokenising);
  context.dispose();
  return { 'inputs/s': rate };
}

/** In order, each step with as many inputs as fit its rows. */
export function stepsOf(all: readonly Uint32Array[], most: number, rows: number): Uint32Array[][] {
  const steps: Uint32Array[][] = [];
  let free = 0;
  for (const tokens of all) {
    const last = steps.at(-1);
    if (last === undefined || last.length === most || tokens.length > free) {
      steps.push([tokens]);
      free = rows - tokens.length;
    } else {
      last.push(tokens);
      free -= tokens.length;
    }
  }
  return steps;
}

function embedStep(context: NativeContext, together: readonly Uint32Array[]): void {
  context.initBatch(sum(together.map(({ length }) => length)));
  for (const [sequence, tokens] of together.entries())
    context.addToBatch(sequence, 0, tokens, Uint32Array.of(tokens.length - 1));
  context.decodeBatch();
  for (const sequence of together.keys()) {
    context.embedding(sequence);
    context.clearSequence(sequence);
  }
}
