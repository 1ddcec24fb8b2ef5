import { type Fields, isFields } from '../../../../lib/base/json.ts';
import type { DoneEvent } from '../../../../contract/job-event.ts';
import { answeredSampling, type Sampling } from '../../../../contract/sampling-shapes.ts';
import { samplingFields } from '../../../../wire/inference/generation.ts';
import type { OutputItem } from '../../../../wire/responses/items.ts';
import type { ResponsesRequest } from '../../../../wire/responses/request.ts';
import type { ResponseBody } from '../../../../wire/responses/response.ts';
import { wireGuards } from '../../generation/usage.ts';
import { wireUsage } from './item-words.ts';

export interface ResponseHead {
  readonly id: string;
  readonly createdAt: number;
  readonly model: string;
  readonly store: boolean;
  readonly sampling: Sampling;
}

const ECHOED = {
  background: ({ background }) => background === true,
  instructions: ({ instructions }) => instructions ?? null,
  max_output_tokens: ({ max_output_tokens: most }) => most ?? null,
  parallel_tool_calls: ({ parallel_tool_calls: parallel }) => parallel !== false,
  previous_response_id: ({ previous_response_id: previous }) => previous ?? null,
  reasoning: ({ reasoning }) => ({ effort: textOrNull(reasoning?.['effort']), summary: null }),
  // Clients label their requests with these two; they have no effect here.
  safety_identifier: (asked: Fields) => textOrNull(asked['safety_identifier']),
  prompt_cache_key: (asked: Fields) => textOrNull(asked['prompt_cache_key']),
  text: ({ text }) => {
    const format = text?.['format'];
    return { format: isFields(format) ? completeFormat(format) : { type: 'text' } };
  },
  tool_choice: ({ tool_choice: choice }) => choice ?? 'auto',
  tools: ({ tools }) => (tools ?? []).map(completeTool),
  metadata: ({ metadata }) => metadata ?? {},
} satisfies { readonly [Name in keyof ResponseBody]?: (asked: ResponsesRequest) => ResponseBody[Name] };

function echo(asked: ResponsesRequest): Pick<ResponseBody, keyof typeof ECHOED> {
  const fields = Object.entries(ECHOED).map(([name, read]) => [name, read(asked)]);
  return Object.fromEntries(fields) as ReturnType<typeof echo>;
}

export function openBody(
  { id, createdAt, model, store, sampling }: ResponseHead,
  asked: ResponsesRequest,
): ResponseBody {
  return {
    id,
    object: 'response',
    created_at: createdAt,
    completed_at: null,
    status: 'in_progress',
    error: null,
    incomplete_details: null,
    max_tool_calls: null,
    model,
    output: [],
    store,
    ...echo(asked),
    ...askedSampling(asked),
    ...answeredSampling(sampling),
    top_logprobs: 0,
    service_tier: 'default',
    truncation: 'disabled',
    usage: null,
  };
}

function askedSampling(asked: ResponsesRequest): Partial<ResponseBody> {
  return Object.fromEntries(Object.entries(asked).filter(([name]) => Object.hasOwn(samplingFields, name)));
}

const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null);

const completeTool = (tool: Fields): Fields =>
  tool['type'] === 'function' ? { description: null, parameters: null, strict: null, ...tool } : tool;

const completeFormat = (format: Fields): Fields =>
  format['type'] === 'json_schema' ? { description: null, strict: null, ...format } : format;

/** A full window counts as a reached limit. */
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

export function lostBody(open: ResponseBody): ResponseBody {
  const message = 'The service ended before the answer did; send the request again.';
  return failedBody(open, [], { code: 'server_error', message });
}
