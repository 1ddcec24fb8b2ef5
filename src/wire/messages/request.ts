/**
 * wire/messages owns the shapes of Anthropic's Messages dialect: requests, answers, the events of its streams. It
 * knows no defaults and no use case. This file: requests.
 */
import { type Static, Type } from 'typebox';
import { generationFields, samplingFields } from '../inference/generation.ts';
import { nullable } from '../schema.ts';
import { RequestContent } from './blocks.ts';

type Fields = Record<string, unknown>;

export const RequestMessage = Type.Object({
  role: Type.Unsafe<'user' | 'assistant' | 'system'>({
    type: 'string',
    enum: ['user', 'assistant', 'system'],
  }),
  content: RequestContent,
});
export type RequestMessage = Static<typeof RequestMessage>;

const conversation = {
  model: Type.String({ minLength: 1, maxLength: 512 }),
  messages: Type.Array(RequestMessage, { minItems: 1, maxItems: 4096 }),
  system: Type.Optional(RequestContent),
  tools: nullable<Fields[]>('array', {
    maxItems: 512,
    items: { type: 'object' },
    description: 'Client tools: {name, description, input_schema}.',
  }),
  tool_choice: nullable<Fields>('object', {
    description: 'auto, any, none, or tool with a name; disable_parallel_tool_use asks for one call at most.',
  }),
  thinking: nullable<Fields>('object', { description: 'enabled with budget_tokens, adaptive, or disabled.' }),
  output_config: nullable<Fields>('object', { description: 'effort, and format with a JSON Schema.' }),
  output_format: nullable<Fields>('object', { description: 'The earlier place of output_config.format.' }),
  context_management: nullable<Fields>('object', {
    description:
      'edits: clear_tool_uses_20250919, clear_thinking_20251015 and compact_20260112, made before the model reads.',
  }),
  cache_control: nullable<Fields>('object', {
    description:
      'Accepted; whatever a conversation shares with an earlier one is reused without being asked.',
  }),
  thread: nullable<Fields>('object', {
    description: 'Refused, in a way that its clients answer by sending the whole conversation.',
  }),
  mcp_servers: nullable<unknown[]>('array', { description: 'Must be empty; nothing is called from here.' }),
};

export const CountTokensRequest = Type.Object(conversation, { $id: 'CountTokensRequest' });
export type CountTokensRequest = Static<typeof CountTokensRequest>;

const { num_ctx, keep_alive, stream } = generationFields;

export const MessagesRequest = Type.Object(
  {
    ...conversation,
    max_tokens: Type.Integer({ minimum: 1, description: 'Tokens to generate at most, thinking included.' }),
    stop_sequences: nullable<string[]>('array', {
      maxItems: 64,
      items: { type: 'string', minLength: 1, maxLength: 4096 },
    }),
    ...samplingFields,
    num_ctx,
    keep_alive,
    stream,
  },
  { $id: 'MessagesRequest' },
);
export type MessagesRequest = Static<typeof MessagesRequest>;

export const CountTokensResponse = Type.Object(
  {
    input_tokens: Type.Integer(),
    context_management: Type.Optional(
      Type.Object({
        original_input_tokens: Type.Integer({ description: 'Without the edits that were asked for.' }),
      }),
    ),
  },
  { $id: 'CountTokensResponse' },
);
export type CountTokensResponse = Static<typeof CountTokensResponse>;
