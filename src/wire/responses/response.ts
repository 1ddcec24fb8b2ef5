import { type Static, Type } from 'typebox';
import { answeredShapes } from '../../contract/sampling-shapes.ts';
import { CompactionFacts, incidentShapes, samplingFields } from '../inference/generation.ts';
import { orNull } from '../schema.ts';
import { type InputItem, OutputItem } from './items.ts';

const Fields = Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true });

export const ResponseUsage = Type.Object({
  input_tokens: Type.Integer(),
  input_tokens_details: Type.Object({
    cached_tokens: Type.Integer(),
    cache_write_tokens: Type.Literal(0, { description: 'Nobody is charged for what the cache stores.' }),
  }),
  output_tokens: Type.Integer(),
  output_tokens_details: Type.Object({ reasoning_tokens: Type.Integer() }),
  total_tokens: Type.Integer(),
});
export type ResponseUsage = Static<typeof ResponseUsage>;

export const ResponseBody = Type.Object(
  {
    id: Type.String({ pattern: '^resp_[0-9a-f]{48}$' }),
    object: Type.Literal('response'),
    created_at: Type.Integer(),
    completed_at: orNull(Type.Integer({ description: 'Unix seconds; null unless status is completed.' })),
    background: Type.Boolean(),
    status: Type.Union([
      Type.Literal('queued'),
      Type.Literal('in_progress'),
      Type.Literal('completed'),
      Type.Literal('incomplete'),
      Type.Literal('failed'),
      Type.Literal('cancelled'),
    ]),
    error: orNull(Type.Object({ code: Type.String(), message: Type.String() })),
    incomplete_details: orNull(Type.Object({ reason: Type.Literal('max_output_tokens') })),
    instructions: orNull(Type.String()),
    max_output_tokens: orNull(Type.Integer()),
    max_tool_calls: Type.Null(),
    model: Type.String(),
    output: Type.Array(OutputItem),
    parallel_tool_calls: Type.Boolean(),
    previous_response_id: orNull(Type.String()),
    reasoning: Type.Object({ effort: orNull(Type.String()), summary: Type.Null() }),
    store: Type.Boolean(),
    ...samplingFields,
    ...answeredShapes,
    top_logprobs: Type.Literal(0),
    service_tier: Type.Literal('default'),
    safety_identifier: orNull(Type.String()),
    prompt_cache_key: orNull(Type.String()),
    text: Type.Object({ format: Fields }),
    tool_choice: Type.Unsafe<string | Record<string, unknown>>({}),
    tools: Type.Array(Fields),
    truncation: Type.Literal('disabled'),
    usage: orNull(ResponseUsage),
    metadata: Fields,
    ...incidentShapes,
  },
  { $id: 'ResponseBody' },
);
export type ResponseBody = Static<typeof ResponseBody>;

export const CompactedResponse = Type.Object(
  {
    id: Type.String({ pattern: '^resp_[0-9a-f]{48}$' }),
    object: Type.Literal('response.compaction'),
    created_at: Type.Integer(),
    output: Type.Array(Fields, {
      description: 'The messages of the user, and the item that stands for the conversation.',
    }),
    usage: ResponseUsage,
    svc_compaction: CompactionFacts,
  },
  { $id: 'CompactedResponse' },
);
export type CompactedResponse = Static<typeof CompactedResponse>;

export const DeletedResponse = Type.Object(
  { id: Type.String(), object: Type.Literal('response'), deleted: Type.Literal(true) },
  { $id: 'DeletedResponse' },
);
export type DeletedResponse = Static<typeof DeletedResponse>;

export const CancelledResponse = Type.Object(
  { id: Type.String(), object: Type.Literal('response'), status: Type.Literal('cancelled') },
  { $id: 'CancelledResponse' },
);
export type CancelledResponse = Static<typeof CancelledResponse>;

export const ItemList = Type.Object(
  {
    object: Type.Literal('list'),
    data: Type.Array(Fields),
    first_id: orNull(Type.String()),
    last_id: orNull(Type.String()),
    has_more: Type.Boolean(),
  },
  { $id: 'ItemList' },
);
export interface ItemList {
  object: 'list';
  data: InputItem[];
  first_id: string | null;
  last_id: string | null;
  has_more: boolean;
}

export const InputTokens = Type.Object(
  { object: Type.Literal('response.input_tokens'), input_tokens: Type.Integer() },
  { $id: 'InputTokens' },
);
export type InputTokens = Static<typeof InputTokens>;
