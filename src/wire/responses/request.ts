/**
 * wire/responses owns the shapes of OpenAI's Responses dialect: requests, items, answers, the events of its streams.
 * It knows no defaults and no use case. This file: requests.
 */
import { type Static, Type } from 'typebox';
import { generationFields, samplingFields } from '../inference/generation.ts';
import { nullable } from '../schema.ts';
import type { InputItem } from './items.ts';

type Fields = Record<string, unknown>;

const { num_ctx, keep_alive, stream } = generationFields;

const conversation = {
  model: Type.String({ minLength: 1, maxLength: 512 }),
  input: Type.Optional(
    Type.Unsafe<string | InputItem[] | null>({
      type: ['string', 'array', 'null'],
      maxItems: 4096,
      items: { type: 'object' },
      description: 'Text, or items: messages, calls and their outputs, reasoning.',
    }),
  ),
  prompt: nullable<Fields>('object', { description: 'Must be null; no prompts are kept here.' }),
  instructions: nullable<string>('string', {
    description: 'The system prompt; not carried over by previous_response_id.',
  }),
  previous_response_id: nullable<string>('string', {
    description: 'A stored response that this one continues.',
  }),
  conversation: Type.Optional(
    Type.Unsafe<string | Fields | null>({ type: ['string', 'object', 'null'], description: 'Must be null.' }),
  ),
  tools: nullable<Fields[]>('array', {
    maxItems: 512,
    items: { type: 'object' },
    description: 'Function tools, and custom tools, whose input is free text.',
  }),
  tool_choice: Type.Optional(
    Type.Unsafe<string | Fields | null>({
      type: ['string', 'object', 'null'],
      description: 'none, auto, required, a function or custom tool by name, or allowed_tools.',
    }),
  ),
  parallel_tool_calls: nullable<boolean>('boolean', {
    description: 'false: one call at most; true if absent.',
  }),
  reasoning: nullable<Fields>('object', {
    description: 'effort: none, minimal, low, medium, high or xhigh.',
  }),
  context_management: nullable<Fields[]>('array', {
    maxItems: 8,
    items: { type: 'object' },
    description:
      'compaction with compact_threshold: beyond so many tokens, the conversation is made shorter.',
  }),
  text: nullable<Fields>('object', {
    description: 'format: text, json_object, or json_schema with a schema.',
  }),
};

export const InputTokensRequest = Type.Object(conversation, { $id: 'InputTokensRequest' });
export type InputTokensRequest = Static<typeof InputTokensRequest>;

export const CompactRequest = Type.Object(
  {
    ...conversation,
    num_ctx,
    keep_alive,
    ...samplingFields,
  },
  { $id: 'CompactRequest' },
);
export type CompactRequest = Static<typeof CompactRequest>;

export const ResponsesRequest = Type.Object(
  {
    ...conversation,
    max_output_tokens: nullable<number>('integer', { minimum: 1 }),
    store: nullable<boolean>('boolean', { description: 'false keeps nothing; true if absent.' }),
    background: nullable<boolean>('boolean', {
      description:
        'true stores the response and makes it whether or not the client stays. Without stream, the answer is a queued response; GET it by its id.',
    }),
    include: nullable<string[]>('array', { items: { type: 'string' } }),
    metadata: nullable<Fields>('object', { maxProperties: 16 }),
    truncation: nullable<string>('string', { enum: ['auto', 'disabled', null] }),
    stream_options: nullable<Fields>('object'),
    ...samplingFields,
    num_ctx,
    keep_alive,
    stream,
  },
  { $id: 'ResponsesRequest' },
);
export type ResponsesRequest = Static<typeof ResponsesRequest>;

export const ResponseQuery = Type.Object({
  stream: Type.Optional(Type.String({ description: 'Must not be true; a stream is not played again.' })),
});
export const ItemsQuery = Type.Object({
  order: Type.Optional(Type.Unsafe<'asc' | 'desc'>({ type: 'string', enum: ['asc', 'desc'] })),
  limit: Type.Optional(Type.String({ pattern: '^[1-9][0-9]{0,2}$' })),
  after: Type.Optional(Type.String({ maxLength: 128 })),
});
export type ItemsQuery = Static<typeof ItemsQuery>;
