/** The body of a response at each moment of its life: what was asked, repeated, and what has become of it. */
import type { DoneEvent } from '../../../contract/job-event.ts';
import { answeredSampling, type Sampling } from '../../../contract/sampling-shapes.ts';
import { samplingFields } from '../../../wire/inference/generation.ts';
import type { OutputItem } from '../../../wire/responses/items.ts';
import type { ResponsesRequest } from '../../../wire/responses/request.ts';
import type { ResponseBody } from '../../../wire/responses/response.ts';
import { type Fields, isFields } from '../fields.ts';
import { wireGuards } from '../../generation/usage.ts';
import { wireUsage } from './item-words.ts';

export interface ResponseHead {
  readonly id: string;
  readonly createdAt: number;
  /** The model that answers, whatever the request called it. */
  readonly model: string;
  /** Whether the response is kept. */
  readonly store: boolean;
  /** The options of the job. */
  readonly sampling: Sampling;
}

/** A response that has begun. */
export function openBody(
  { id, createdAt, model, store, sampling }: ResponseHead,
  asked: ResponsesRequest,
): ResponseBody {
  const effort = asked.reasoning?.['effort'];
  const format = asked.text?.['format'];
  return {
    id,
    object: 'response',
    created_at: createdAt,
    completed_at: null,
    background: asked.background === true,
    status: 'in_progress',
    error: null,
    incomplete_details: null,
    instructions: asked.instructions ?? null,
    max_output_tokens: asked.max_output_tokens ?? null,
    max_tool_calls: null,
    model,
    output: [],
    parallel_tool_calls: asked.parallel_tool_calls !== false,
    previous_response_id: asked.previous_response_id ?? null,
    reasoning: { effort: typeof effort === 'string' ? effort : null, summary: null },
    store,
    ...askedSampling(asked),
    ...answeredSampling(sampling),
    top_logprobs: 0,
    service_tier: 'default',
    safety_identifier: askedText(asked, 'safety_identifier'),
    prompt_cache_key: askedText(asked, 'prompt_cache_key'),
    text: { format: isFields(format) ? completeFormat(format) : { type: 'text' } },
    tool_choice: asked.tool_choice ?? 'auto',
    tools: (asked.tools ?? []).map(completeTool),
    truncation: 'disabled',
    usage: null,
    metadata: asked.metadata ?? {},
  };
}

/** The options of sampling that the request sets. */
function askedSampling(asked: ResponsesRequest): Partial<ResponseBody> {
  return Object.fromEntries(Object.entries(asked).filter(([name]) => Object.hasOwn(samplingFields, name)));
}

/** Fields without an effect here, by which clients label their requests. */
function askedText(asked: Fields, name: string): string | null {
  const value = asked[name];
  return typeof value === 'string' ? value : null;
}

/** Members that requests may leave out and responses must have. */
const completeTool = (tool: Fields): Fields =>
  tool['type'] === 'function' ? { description: null, parameters: null, strict: null, ...tool } : tool;

const completeFormat = (format: Fields): Fields =>
  format['type'] === 'json_schema' ? { description: null, strict: null, ...format } : format;

/** The same at its end. A full window ends an answer as a limit does. */
export function closedBody(
  open: ResponseBody,
  output: readonly OutputItem[],
  { done, unixSeconds }: { readonly done: DoneEvent; readonly unixSeconds: number },
): ResponseBody {
  const isCut = done.finishReason === 'length';
  return {
    ...open,
    completed_at: isCut ? null : unixSeconds,
    status: isCut ? 'incomplete' : 'completed',
    incomplete_details: isCut ? { reason: 'max_output_tokens' } : null,
    output: [...output],
    usage: wireUsage(done.usage),
    ...wireGuards(done),
  };
}

export function failedBody(
  open: ResponseBody,
  output: readonly OutputItem[],
  error: { readonly code: string; readonly message: string },
): ResponseBody {
  const status = error.code === 'cancelled' ? 'cancelled' : 'failed';
  return { ...open, status, error: { code: error.code, message: error.message }, output: [...output] };
}

/** Of a response that was begun by a process that is gone: nobody makes its answer any more. */
export function lostBody(open: ResponseBody): ResponseBody {
  const message = 'The service ended before the answer did; send the request again.';
  return failedBody(open, [], { code: 'server_error', message });
}
