import type { FrozenExec, FrozenFacts } from '../../contract/frozen.ts';
import { recordedSampling } from '../../contract/sampling-shapes.ts';
import type { LogitTrace } from '../batch/stream/logit-trace.ts';
import type { Sampled, StreamJob } from '../batch/stream/stream-job.ts';
import type { ChatModel } from '../model.ts';
import { pieceText } from '../prompt/prompt.ts';
import type { PreparedChat } from '../prepare.ts';
import { exactExec } from './context.ts';
import { type FrozenPlan, planFrozen } from './plan.ts';
import { encodeTokens, sha256, sha256OfTokens } from './token-bytes.ts';

interface FinishedRun {
  readonly plan: FrozenPlan;
  readonly exec: FrozenExec;
  readonly output: Sampled;
  readonly trace: LogitTrace;
}

/** For an answer in a slot of an exact load. Throws if nothing can be signed. */
export function exactAccount(chat: ChatModel, prepared: PreparedChat): StreamJob['account'] {
  const plan = planFrozen(chat, prepared);
  exactExec(chat);
  return (output, trace) => frozenFacts(chat, { plan, exec: exactExec(chat), output, trace });
}

export function frozenFacts(chat: ChatModel, run: FinishedRun): FrozenFacts {
  const { job, maxTokens } = run.plan.prepared;
  const chain = samplerNames(chat, run.plan);
  return {
    prompt: promptFacts(chat, run.plan),
    exec: run.exec,
    host: chat.backend.host(),
    sampling: { ...recordedSampling(job.sampling), chain, maxTokens, stop: [...job.stop] },
    output: outputFacts(run, chain),
  };
}

export function samplerNames({ backend }: ChatModel, { prepared }: FrozenPlan): string[] {
  const samplers = backend.samplersFor(prepared.job.sampling);
  return prepared.answer.constraint === null ? [...samplers] : ['grammar', ...samplers];
}

/** Null: the prompt was a text. */
export function templateDigest({ job, writer }: FrozenPlan['prepared']): string | null {
  return job.prompt.kind === 'chat' ? sha256(writer.template.source) : null;
}

function promptFacts({ vocabulary }: ChatModel, { prepared }: FrozenPlan): FrozenFacts['prompt'] {
  const { job, pieces, tokens } = prepared;
  return {
    templateSha256: templateDigest(prepared),
    templateClockMs: job.templateClockMs ?? 0,
    renderedSha256: sha256(pieceText(pieces)),
    tokensSha256: sha256OfTokens(tokens),
    tokenCount: tokens.length,
    addBos: vocabulary.prependToken !== null && tokens[0] === vocabulary.prependToken,
  };
}

function outputFacts({ output, trace }: FinishedRun, chain: readonly string[]): FrozenFacts['output'] {
  const tokens = encodeTokens(Uint32Array.from(output.tokens));
  return {
    tokens: tokens.toString('base64'),
    tokenCount: output.tokens.length,
    tokensSha256: sha256(tokens),
    traceSha256: trace.sha256,
    // Under penalties or a grammar the choice was not made from the largest logit.
    minMargin: chain.length === 1 && chain[0] === 'greedy' ? trace.minMargin : null,
  };
}
