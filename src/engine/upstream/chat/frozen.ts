/** An answer that a Hearth elsewhere signed, as job events: it passes whole, and whoever asked for it checks the record. */
import type { DoneEvent, JobEvent } from '../../../contract/job-event.ts';
import type { FrozenRoute } from '../../ports.ts';
import { type Asked, broken } from '../failures.ts';
import { countOf, field, listOf } from '../hostile.ts';
import { finishOf } from './answer.ts';
import type { UpstreamRequest } from './request.ts';

export const writeFrozen = ({ request }: FrozenRoute): UpstreamRequest => ({
  path: '/chat/completions',
  body: request,
});

/** Throws where it cannot be an answer; what it says is not read here. */
export function readFrozen(asked: Asked, body: unknown, numCtx: number): readonly JobEvent[] {
  const usage = field(body, 'usage');
  const [promptTokens, completionTokens] = [
    countOf(field(usage, 'prompt_tokens')),
    countOf(field(usage, 'completion_tokens')),
  ];
  const finish = field(listOf(field(body, 'choices'))[0], 'finish_reason');
  if (promptTokens === undefined || completionTokens === undefined || typeof finish !== 'string')
    throw broken(asked.upstream, 'rubbish', 'it is no chat completion');
  const done: DoneEvent = {
    type: 'done',
    finishReason: finishOf(finish),
    usage: { promptTokens, completionTokens, cachedTokens: 0, reasoningTokens: 0 },
    timings: { prefillMs: 0, decodeMs: 0 },
    relayed: body,
  };
  return [{ type: 'started', promptTokens, cachedTokens: 0, numCtx }, done];
}
