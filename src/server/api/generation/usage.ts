import type {
  CallGuard,
  Compaction,
  DoneEvent,
  ProgressEvent,
  Repetition,
  Resumed,
  SampledToken,
  TokenLogprob,
  Usage as EngineUsage,
  FinishReason,
} from '../../../contract/job-event.ts';
import { remainingMs } from './stream-item.ts';
import { tokenOrigins } from '../cache-log.ts';
import type {
  ChoiceLogprobs,
  CompactionFacts,
  PromptProgress,
  Resumption,
  Timings,
  Usage,
} from '../../../wire/inference/generation.ts';
import { hash } from 'node:crypto';
import type { Clock } from '../../../lib/base/clock.ts';
import { type ServedModel, weightsName } from '../models/served-model.ts';

export function wireUsage(usages: readonly EngineUsage[]): Usage {
  const sum = (pick: (usage: EngineUsage) => number) =>
    usages.reduce((total, usage) => total + pick(usage), 0);
  const prompt = usages[0]?.promptTokens ?? 0;
  const completion = sum((usage) => usage.completionTokens);
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: usages[0]?.cachedTokens ?? 0 },
    completion_tokens_details: { reasoning_tokens: sum((usage) => usage.reasoningTokens) },
  };
}

const wireToken = (token: TokenLogprob) => ({
  token: token.text,
  logprob: token.logprob,
  bytes: token.bytes,
});

export function wireLogprobs(tokens: readonly SampledToken[]): ChoiceLogprobs {
  return {
    content: tokens.map(({ chosen, top }) => ({ ...wireToken(chosen), top_logprobs: top.map(wireToken) })),
  };
}

/** A phase too short to measure has speed 0. */
export function wireTimings({
  usage,
  timings,
  cache,
}: Pick<DoneEvent, 'usage' | 'timings' | 'cache'>): Timings {
  const { slotTokens, ramTokens, diskTokens, restoreMs } = tokenOrigins({ ...usage, cache });
  const perSecond = (tokens: number, ms: number) => (ms > 0 ? round((tokens * 1000) / ms) : 0);
  return {
    cache_n: usage.cachedTokens,
    prompt_n: usage.promptTokens - usage.cachedTokens,
    predicted_n: usage.completionTokens,
    prompt_ms: round(timings.prefillMs),
    predicted_ms: round(timings.decodeMs),
    prompt_per_second: perSecond(usage.promptTokens - usage.cachedTokens, timings.prefillMs),
    predicted_per_second: perSecond(usage.completionTokens, timings.decodeMs),
    cache: {
      slot: slotTokens,
      ram: ramTokens,
      disk: diskTokens,
      restore_ms: round(restoreMs),
      evaluated: usage.promptTokens - usage.cachedTokens,
    },
    ...(timings.drafts && { draft_n: timings.drafts.drafted, draft_n_accepted: timings.drafts.accepted }),
  };
}

export function wireProgress(event: ProgressEvent): PromptProgress {
  const left = remainingMs(event);
  return {
    total: event.promptTokens,
    cache: event.cachedTokens,
    processed: event.evaluatedTokens,
    time_ms: round(event.elapsedMs),
    ...(left === null ? {} : { remaining_ms: round(left) }),
  };
}

const round = (value: number) => Math.round(value * 100) / 100;

interface Incidents {
  readonly svc_resumed?: Resumption;
  readonly svc_repetition?: Repetition;
  readonly svc_call_guard?: CallGuard;
  readonly svc_compaction?: CompactionFacts;
}

export function wireIncidents({ resumed, ...done }: DoneEvent): Incidents {
  return {
    ...(resumed === undefined ? {} : { svc_resumed: wireResumption(resumed) }),
    ...wireGuards(done),
  };
}

export function wireGuards({
  repetition,
  calls,
  compaction,
  usage,
}: Pick<DoneEvent, 'repetition' | 'calls' | 'compaction' | 'usage'>): Omit<Incidents, 'svc_resumed'> {
  return {
    ...(compaction === undefined ? {} : { svc_compaction: wireCompaction(compaction, usage) }),
    ...(repetition === undefined ? {} : { svc_repetition: repetition }),
    ...(calls === undefined ? {} : { svc_call_guard: calls }),
  };
}

export function wireCompaction(
  { tokensBefore, tokensAfter, edits, isEstimated = false, summaryUsage }: Compaction,
  usage?: EngineUsage,
): CompactionFacts {
  const count = (kind: Compaction['edits'][number]['kind']): number =>
    edits.reduce((sum, edit) => sum + (edit.kind === kind ? edit.count : 0), 0);
  return {
    tokens_before: tokensBefore,
    tokens_after: tokensAfter,
    ...(usage === undefined ? {} : { tokens_evaluated: usage.promptTokens - usage.cachedTokens }),
    cleared_tool_results: count('results'),
    cleared_thinking_turns: count('thinking'),
    summarized_turns: count('summary'),
    ...(summaryUsage === undefined ? {} : { summary_tokens: summaryUsage.completionTokens }),
    ...(isEstimated ? { estimated: true } : {}),
  };
}

function wireResumption({ afterCharacters, ...names }: Resumed): Resumption {
  return { ...names, after_characters: afterCharacters };
}

/**
 * The finish reason on the wire; `svc_finish_reason` always contains the true one. The interface lets a stream end
 * with "stop" only. A tool call must still be announced, or no client would run it; "length" is sent to clients that
 * expect OpenAI's values (server/http/error-shape.ts).
 */
export function wireFinishReason(truth: FinishReason, stream: boolean, readsOpenAi: boolean): FinishReason {
  if (!stream || truth !== 'length') return truth;
  return readsOpenAi ? 'length' : 'stop';
}

export function trueFinishReason({ finishReason, repetition }: DoneEvent): FinishReason | 'repetition' {
  return repetition === 'ended' ? 'repetition' : finishReason;
}

export interface HeadPorts {
  readonly clock: Pick<Clock, 'unixMs'>;
  readonly backendSha256: () => Promise<string | null>;
}

/** Members at the start of every answer and chunk; `makeId` gets the time of creation in seconds. */
export async function answerHead<T extends string>(
  { clock, backendSha256 }: HeadPorts,
  model: ServedModel,
  { object, makeId }: { readonly object: T; readonly makeId: (created: number) => string },
) {
  const created = Math.floor(clock.unixMs() / 1000);
  return {
    id: makeId(created),
    object,
    created,
    model: model.id,
    system_fingerprint: fingerprint(await backendSha256(), model),
  };
}

interface Fingerprint {
  readonly facts: string;
  readonly text: string;
}

const fingerprints = new WeakMap<ServedModel, Fingerprint>();

/** Changes with the backend's bytes or the model: equal seeds promise equal answers only under one of these. */
function fingerprint(backendSha256: string | null, model: ServedModel): string {
  const facts = `${backendSha256 ?? 'none'} ${weightsName(model)}`;
  const known = fingerprints.get(model);
  if (known?.facts === facts) return known.text;
  const text = `fp_${hash('sha256', facts).slice(0, 16)}`;
  fingerprints.set(model, { facts, text });
  return text;
}
