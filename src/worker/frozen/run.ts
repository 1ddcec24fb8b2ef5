/** One frozen generation, from a fresh context to its last event. */
import type { JobEvent } from '../../contract/job-event.ts';
import { evaluateRows, type Evaluator } from '../batch/evaluate.ts';
import type { Turnstile } from '../batch/turnstile.ts';
import type { Row } from '../batch/stream/row.ts';
import { Stream } from '../batch/stream/stream.ts';
import type { ChatModel } from '../model.ts';
import { factsOf } from './account.ts';
import { type FrozenContext, SEQUENCE, CHUNK_TOKENS } from './context.ts';
import { type FrozenPlan, streamJobOf } from './plan.ts';
import { FrozenTrace, LogitProbe } from './trace.ts';

/** What runs and checks get from their lane. */
export interface FrozenHooks {
  readonly turnstile: Turnstile;
  event(event: JobEvent): void;
  /** Called before each evaluation; throws when the job was cancelled. */
  step(): void;
}

export async function runFrozen(
  chat: ChatModel,
  { plan, frozen }: { readonly plan: FrozenPlan; readonly frozen: FrozenContext },
  hooks: FrozenHooks,
): Promise<JobEvent> {
  const { context } = frozen;
  const evaluator = { context, turnstile: hooks.turnstile };
  const job = streamJobOf(plan, plan.prepared.answer);
  const stream = new Stream(chat, { job, sequence: SEQUENCE, cachedTokens: 0, maxDraftTokens: 0 });
  const probe = new LogitProbe(chat.model);
  const trace = new FrozenTrace();
  try {
    while (!stream.isFinished) {
      hooks.step();
      const row = stream.isDecoding ? stream.decodeRow() : prefillRow(stream);
      const logitRow = await evaluateAlone(evaluator, row);
      stream.advance(row.tokens.length);
      if (logitRow === undefined) continue;
      // Asked for together: each native call may wait for a step of other streams.
      const [topTwo, sampled] = await both(probe.topTwo(context, logitRow), stream.sample(context, logitRow));
      trace.add(sampled.token, topTwo);
      for (const event of stream.accept(sampled)) hooks.event(event);
    }
    return { ...stream.doneEvent(), frozen: factsOf(chat, { plan, frozen, output: stream.output, trace }) };
  } finally {
    stream.dispose();
    probe.dispose();
  }
}

function prefillRow(stream: Stream): Row {
  return stream.prefillRow(Math.min(CHUNK_TOKENS, stream.remaining));
}

/** Returns the batch row of the logits, where the row asks for them. */
async function evaluateAlone(evaluator: Evaluator, row: Row): Promise<number | undefined> {
  let logitRow: number | undefined;
  await evaluateRows(evaluator, [row], {
    onResult: async (_, result) => {
      if ('error' in result) throw result.error;
      logitRow = result.logitRows[0];
    },
  });
  return logitRow;
}

/** Neither is still at work when this fails, because what they work on is disposed of then. */
async function both<A, B>(one: Promise<A>, other: Promise<B>): Promise<[A, B]> {
  await Promise.allSettled([one, other]);
  return await Promise.all([one, other]);
}
