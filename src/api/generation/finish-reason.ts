import type { FinishReason } from '../../contract/job-event.ts';

/**
 * The finish reason that goes on the wire; the true one always stands in `svc_finish_reason`.
 * The interface lets a stream end with "stop" only. A tool call must still be announced, or no client would run it;
 * "length" is sent when the request carried a field outside the interface: its sender knows OpenAI's words.
 */
export function wireFinishReason(truth: FinishReason, stream: boolean, openAiDialect: boolean): FinishReason {
  if (!stream || truth !== 'length') return truth;
  return openAiDialect ? 'length' : 'stop';
}
