import { createHash } from 'node:crypto';
import type { DoneEvent, Usage } from '../../../../contract/job-event.ts';
import type { MessagesUsage, Ending } from '../../../../wire/messages/response.ts';

/** Cached prompt tokens are reported separately from evaluated ones; their sum is the prompt. */
export function wireUsage(
  usage: Pick<Usage, 'promptTokens' | 'cachedTokens' | 'completionTokens'>,
): MessagesUsage {
  return {
    input_tokens: usage.promptTokens - usage.cachedTokens,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: usage.cachedTokens,
    output_tokens: usage.completionTokens,
  };
}

export interface Stop {
  readonly stop_reason: Ending;
  readonly stop_sequence: string | null;
}

export interface Bounds {
  /** The limit of the request; the budget of the key may be smaller. */
  readonly maxTokens: number;
  readonly numCtx: number;
}

export function wireStop(
  { finishReason, stopString, usage }: DoneEvent,
  { maxTokens, numCtx }: Bounds,
): Stop {
  if (finishReason === 'tool_calls') return { stop_reason: 'tool_use', stop_sequence: null };
  if (finishReason === 'length') {
    const isFull = numCtx > 0 && usage.promptTokens + usage.completionTokens >= numCtx;
    const isWindow = isFull && usage.completionTokens < maxTokens;
    return { stop_reason: isWindow ? 'model_context_window_exceeded' : 'max_tokens', stop_sequence: null };
  }
  if (stopString !== undefined) return { stop_reason: 'stop_sequence', stop_sequence: stopString };
  return { stop_reason: 'end_turn', stop_sequence: null };
}

export const wireCallId = (id: string): string => id.replace(/^call_/, 'toolu_');

export const thinkingSignature = (thinking: string): string =>
  createHash('sha256').update(thinking).digest('base64');
