/** One frozen generation or check, from a fresh context to its facts. Everything that varies is pinned or recorded. */
import { createHash } from 'node:crypto';
import type { CheckFacts, FrozenFacts, FrozenPins } from '../../contract/frozen.ts';
import { recordedSampling } from '../../contract/sampling-shapes.ts';
import type { JobEvent } from '../../contract/job-event.ts';
import type { Answer } from '../answer/answer.ts';
import { evaluateRows } from '../batch/evaluate.ts';
import type { Row } from '../batch/stream/row.ts';
import type { StreamJob } from '../batch/stream/stream-job.ts';
import { Stream } from '../batch/stream/stream.ts';
import { StreamOutput } from '../batch/stream/stream-output.ts';
import { type FrozenContext, observedThreads, unavailable, windowFor } from './frozen-context.ts';
import { FrozenTrace, LogitProbe } from './trace.ts';
import type { PreparedChat } from '../prepare.ts';
import type { NativeContext } from '../addon/native.ts';
import type { ChatModel } from '../model.ts';
import { pieceText } from '../prompt/prompt.ts';

/** A frozen job whose prompt is written and fits. */
export interface FrozenPlan {
  readonly prepared: PreparedChat;
  /** Of the frozen context, tokens. */
  readonly numCtx: number;
  readonly threads: number;
  readonly claimed: Uint32Array | null;
  readonly epsilon: number;
}

const NO_PINS: FrozenPins = { threads: null, numCtx: null, claimedTokens: null, epsilon: 0 };
const SEQUENCE = 0;

export function planFrozen(chat: ChatModel, prepared: PreparedChat): FrozenPlan {
  const { job, tokens, maxTokens } = prepared;
  const pins = job.frozen ?? NO_PINS;
  if (job.sampling.seed === undefined || job.templateClockMs === null) {
    throw unavailable('the job pins no seed or no clock');
  }
  const claimed = pins.claimedTokens === null ? null : tokensOf(pins.claimedTokens);
  // Native code looks such a token up without a bound.
  if (claimed?.some((token) => token >= chat.vocabulary.size) === true) {
    throw unavailable('the claimed tokens are not all in the vocabulary of this model');
  }
  const needed = tokens.length + Math.max(maxTokens, claimed?.length ?? 0);
  const numCtx = pins.numCtx ?? windowFor(needed, Math.max(chat.facts.trainedCtx, chat.facts.numCtx));
  if (numCtx < needed) throw unavailable(`${needed} tokens do not fit the pinned window of ${numCtx}`);
  const threads = pins.threads ?? chat.facts.threads;
  return { prepared, numCtx, threads, claimed, epsilon: pins.epsilon };
}

/** What a run needs from its lane: a way to say things, and to be told to stop. */
export interface FrozenHooks {
  event(event: JobEvent): void;
  /** Called before each evaluation; throws when the job was cancelled. */
  step(): void;
}

export async function runFrozen(
  chat: ChatModel,
  plan: FrozenPlan,
  frozen: FrozenContext,
  hooks: FrozenHooks,
): Promise<JobEvent> {
  const { context: native } = frozen;
  const job = streamJobOf(plan, plan.prepared.answer);
  const stream = new Stream(chat, { job, sequence: SEQUENCE, cachedTokens: 0, maxDraftTokens: 0 });
  const probe = new LogitProbe(chat.model);
  const trace = new FrozenTrace();
  try {
    while (!stream.isFinished) {
      hooks.step();
      const row = stream.isDecoding ? stream.decodeRow() : prefillRow(stream, frozen.sliceTokens);
      await evaluateAlone(native, row, async (batchRow) => {
        stream.advance(row.tokens.length);
        if (batchRow === undefined) return;
        // Asked for together: beside streams each native call may wait for a step of theirs.
        const [topTwo, sampled] = await both(probe.topTwo(native, batchRow), stream.sample(native, batchRow));
        trace.add(sampled.token, topTwo);
        for (const event of stream.accept(sampled)) hooks.event(event);
      });
    }
    return { ...stream.doneEvent(), frozen: factsOf(chat, { plan, frozen, output: stream.output, trace }) };
  } finally {
    stream.dispose();
    probe.dispose();
  }
}

/**
 * Tests claimed tokens in slices: prompt and answer are evaluated once, and each token is compared with the choice.
 * Its events say what the claimed tokens say, so that a claimed text can be compared with them.
 */
export async function checkFrozen(
  chat: ChatModel,
  plan: FrozenPlan & { readonly claimed: Uint32Array },
  frozen: FrozenContext,
  hooks: FrozenHooks,
): Promise<JobEvent> {
  const started = performance.now();
  const { context: native } = frozen;
  const prompt = plan.prepared.tokens;
  const all = Uint32Array.from([...prompt, ...plan.claimed]);
  const first = prompt.length - 1;
  const probe = new LogitProbe(chat.model);
  const tally = { exact: 0, withinMargin: 0, firstMismatch: null as number | null, largestGap: 0 };
  try {
    // The last claimed token has no successor to test, so it is not evaluated.
    for (let at = 0; at < all.length - 1; at += frozen.sliceTokens) {
      hooks.step();
      const slice = all.subarray(at, Math.min(at + frozen.sliceTokens, all.length - 1));
      const wanted = [...slice.keys()].filter((index) => at + index >= first);
      native.initBatch(slice.length);
      const rows = native.addToBatch(SEQUENCE, at, slice, Uint32Array.from(wanted));
      await native.decodeBatch();
      for (const [place, index] of wanted.entries()) {
        const step = at + index - first;
        const gap = await gapOf(probe, native, rows[place] ?? -1, plan.claimed[step] ?? -1);
        count(tally, step, gap, plan.epsilon);
      }
    }
  } finally {
    probe.dispose();
  }
  // Nothing is sampled, and a grammar throws on a token that it does not allow.
  const job = streamJobOf(plan, { ...plan.prepared.answer, constraint: null });
  const output = new StreamOutput(job, chat.vocabulary);
  for (const token of plan.claimed) {
    if (output.finishReason !== null) break;
    for (const event of output.push(token, null)) hooks.event(event);
  }
  const { finishReason, tokens } = output;
  const check: CheckFacts = {
    steps: plan.claimed.length,
    ...tally,
    promptTokensSha256: sha256OfTokens(prompt),
    isWhole: finishReason !== null && tokens.length === plan.claimed.length,
    chain: samplersOf(chat, plan),
  };
  const timings = { prefillMs: performance.now() - started, decodeMs: 0 };
  return { type: 'done', finishReason: finishReason ?? 'stop', usage: output.usage(0), timings, check };
}

function streamJobOf({ prepared }: FrozenPlan, answer: Answer): StreamJob {
  const { job, tokens, numCtx } = prepared;
  return { job, prompt: tokens, answer, numCtx, arrivedMs: performance.now() };
}

async function gapOf(
  probe: LogitProbe,
  native: NativeContext,
  row: number,
  claimed: number,
): Promise<number> {
  const { first, second } = await probe.topTwo(native, row);
  if (first.token === claimed) return 0;
  const logit = second.token === claimed ? second.logit : await probe.logitOf(native, row, claimed);
  return first.logit - logit;
}

function count(
  tally: { exact: number; withinMargin: number; firstMismatch: number | null; largestGap: number },
  step: number,
  gap: number,
  epsilon: number,
): void {
  // JSON and IPC carry no infinity; no two logits are ever this far apart.
  tally.largestGap = Math.max(tally.largestGap, Math.min(gap, 1e9));
  if (gap === 0) tally.exact += 1;
  else if (gap <= epsilon) tally.withinMargin += 1;
  else tally.firstMismatch ??= step;
}

/** Neither is still at work when this fails, because what they work on is disposed of then. */
async function both<A, B>(one: Promise<A>, other: Promise<B>): Promise<[A, B]> {
  await Promise.allSettled([one, other]);
  return await Promise.all([one, other]);
}

function prefillRow(stream: Stream, sliceTokens: number): Row {
  return stream.prefillRow(Math.min(sliceTokens, stream.remaining));
}

async function evaluateAlone(
  native: NativeContext,
  row: Row,
  onLogits: (batchRow: number | undefined) => Promise<void>,
): Promise<void> {
  await evaluateRows(native, [row], {
    onResult: async (_, result) => {
      if ('error' in result) throw result.error;
      await onLogits(result.logitRows[0]);
    },
  });
}

function factsOf(
  chat: ChatModel,
  run: {
    readonly plan: FrozenPlan;
    readonly frozen: FrozenContext;
    readonly output: StreamOutput;
    readonly trace: FrozenTrace;
  },
): FrozenFacts {
  const { plan, frozen, output, trace } = run;
  const { prepared } = plan;
  const { job } = prepared;
  const tokens = bytesOf(Uint32Array.from(output.tokens));
  const chain = samplersOf(chat, plan);
  return {
    prompt: {
      templateSha256: job.prompt.kind === 'chat' ? sha256(chat.writer.template.source) : null,
      templateClockMs: job.templateClockMs ?? 0,
      renderedSha256: sha256(pieceText(prepared.pieces)),
      tokensSha256: sha256OfTokens(prepared.tokens),
      tokenCount: prepared.tokens.length,
      addBos: chat.vocabulary.prependToken !== null && prepared.tokens[0] === chat.vocabulary.prependToken,
    },
    exec: { ...frozen.exec, threadsObserved: observedThreads(frozen) },
    host: chat.backend.host(),
    sampling: {
      ...recordedSampling(job.sampling),
      chain,
      maxTokens: prepared.maxTokens,
      stop: [...job.stop],
    },
    output: {
      tokens: tokens.toString('base64'),
      tokenCount: output.tokens.length,
      tokensSha256: sha256(tokens),
      traceSha256: trace.sha256,
      // Under penalties or a grammar the largest logit is not the one that was chosen from.
      minMargin: chain.length === 1 && chain[0] === 'greedy' ? trace.minMargin : null,
    },
  };
}

function samplersOf({ backend }: ChatModel, { prepared }: FrozenPlan): string[] {
  const samplers = backend.samplersFor(prepared.job.sampling);
  return prepared.answer.constraint === null ? [...samplers] : ['grammar', ...samplers];
}

function tokensOf(base64: string): Uint32Array {
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.length === 0 || bytes.length % 4 !== 0) throw unavailable('the claimed tokens are not u32 ids');
  return Uint32Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readUInt32LE(index * 4));
}

function bytesOf(tokens: Uint32Array): Buffer {
  const bytes = Buffer.alloc(tokens.length * 4);
  for (const [index, token] of tokens.entries()) bytes.writeUInt32LE(token, index * 4);
  return bytes;
}

const sha256OfTokens = (tokens: Uint32Array): string => sha256(bytesOf(tokens));

const sha256 = (content: Uint8Array | string): string => createHash('sha256').update(content).digest('hex');
