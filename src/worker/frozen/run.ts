import type { JobEvent } from '../../contract/job-event.ts';
import type { NativeContext } from '../native.ts';
import { evaluateRows } from '../batch/evaluate.ts';
import type { Row } from '../batch/stream/row.ts';
import { Stream } from '../batch/stream/stream.ts';
import type { StreamJob } from '../batch/stream/stream-job.ts';
import type { ChatModel } from '../model.ts';
import { frozenFacts } from './account.ts';
import { CHUNK_TOKENS, type FrozenContext, observedThreads, SEQUENCE } from './context.ts';
import { type FrozenPlan, toStreamJob } from './plan.ts';

export interface FrozenHooks {
  event(event: JobEvent): void;
  /** Called before each evaluation to handle messages; rejects if the job was cancelled. */
  step(): Promise<void>;
}

export async function runFrozen(
  chat: ChatModel,
  { plan, frozen }: { readonly plan: FrozenPlan; readonly frozen: FrozenContext },
  hooks: FrozenHooks,
): Promise<JobEvent> {
  const { context } = frozen;
  const account: StreamJob['account'] = (output, trace) =>
    frozenFacts(chat, {
      plan,
      exec: { ...frozen.exec, threadsObserved: observedThreads(frozen) },
      output,
      trace,
    });
  const job = { ...toStreamJob(plan, plan.prepared.answer), account };
  const stream = new Stream(chat, {
    job,
    sequence: SEQUENCE,
    cachedTokens: 0,
    cache: null,
    maxDraftTokens: 0,
    drafting: null,
  });
  try {
    while (!stream.isFinished) {
      await hooks.step();
      const row = stream.isDecoding ? stream.decodeRow() : prefillRow(stream);
      const logitRow = evaluateAlone(context, row);
      stream.advance(row.tokens.length);
      if (logitRow === undefined) continue;
      for (const event of stream.accept(stream.sample(context, logitRow))) hooks.event(event);
    }
    return stream.doneEvent();
  } finally {
    stream.dispose();
  }
}

function prefillRow(stream: Stream): Row {
  return stream.prefillRow(Math.min(CHUNK_TOKENS, stream.remaining));
}

function evaluateAlone(context: NativeContext, row: Row): number | undefined {
  let logitRow: number | undefined;
  evaluateRows(context, [row], {
    onResult: (_, result) => {
      if ('error' in result) throw result.error;
      logitRow = result.logitRows[0];
    },
  });
  return logitRow;
}
