import type { DoneEvent, FinishReason } from '../../contract/job-event.ts';

/**
 * The finish reason that goes on the wire; the true one always stands in `svc_finish_reason`.
 * The interface lets a stream end with "stop" only. A tool call must still be announced, or no client would run it;
 * "length" is sent to clients that read OpenAI's words (http/error-shape.ts).
 */
export function wireFinishReason(truth: FinishReason, stream: boolean, readsOpenAi: boolean): FinishReason {
  if (!stream || truth !== 'length') return truth;
  return readsOpenAi ? 'length' : 'stop';
}

/** How an answer really ended. */
export function trueFinishReason({ finishReason, repetition }: DoneEvent): FinishReason | 'repetition' {
  return repetition === 'ended' ? 'repetition' : finishReason;
}
