import { type Static, Type } from 'typebox';
import { incidentShapes } from '../inference/generation.ts';
import { orNull } from '../schema.ts';
import { AnswerBlock } from './blocks.ts';

export const Ending = Type.Union([
  Type.Literal('end_turn'),
  Type.Literal('max_tokens'),
  Type.Literal('stop_sequence'),
  Type.Literal('tool_use'),
  Type.Literal('model_context_window_exceeded'),
]);
export type Ending = Static<typeof Ending>;

export const MessagesUsage = Type.Object({
  input_tokens: Type.Integer({ description: 'Prompt tokens that were evaluated for this answer.' }),
  cache_creation_input_tokens: Type.Integer(),
  cache_read_input_tokens: Type.Integer({ description: 'Prompt tokens whose state was reused.' }),
  output_tokens: Type.Integer(),
});
export type MessagesUsage = Static<typeof MessagesUsage>;

const contextManagement = {
  context_management: Type.Optional(
    Type.Object({
      applied_edits: Type.Array(
        Type.Union([
          Type.Object({
            type: Type.Literal('clear_tool_uses_20250919'),
            cleared_tool_uses: Type.Integer(),
            cleared_input_tokens: Type.Integer(),
          }),
          Type.Object({
            type: Type.Literal('clear_thinking_20251015'),
            cleared_thinking_turns: Type.Integer(),
            cleared_input_tokens: Type.Integer(),
          }),
        ]),
      ),
    }),
  ),
};
export type ContextManagement = NonNullable<Static<typeof MessagesResponse>['context_management']>;

export const MessagesResponse = Type.Object(
  {
    id: Type.String({ pattern: '^msg_[A-Za-z0-9]+$' }),
    type: Type.Literal('message'),
    role: Type.Literal('assistant'),
    model: Type.String(),
    content: Type.Array(AnswerBlock),
    stop_reason: orNull(Ending),
    stop_sequence: orNull(Type.String()),
    usage: MessagesUsage,
    ...contextManagement,
    ...incidentShapes,
  },
  { $id: 'MessagesResponse' },
);
export type MessagesResponse = Static<typeof MessagesResponse>;

const BlockDelta = Type.Union([
  Type.Object({ type: Type.Literal('text_delta'), text: Type.String() }),
  Type.Object({ type: Type.Literal('thinking_delta'), thinking: Type.String() }),
  Type.Object({ type: Type.Literal('signature_delta'), signature: Type.String() }),
  Type.Object({ type: Type.Literal('input_json_delta'), partial_json: Type.String() }),
  Type.Object({
    type: Type.Literal('compaction_delta'),
    content: orNull(Type.String()),
    encrypted_content: orNull(Type.String()),
  }),
]);
export type BlockDelta = Static<typeof BlockDelta>;

export const MessagesEvent = Type.Union([
  Type.Object({ type: Type.Literal('message_start'), message: MessagesResponse }),
  Type.Object({ type: Type.Literal('ping') }),
  Type.Object({
    type: Type.Literal('content_block_start'),
    index: Type.Integer(),
    content_block: AnswerBlock,
  }),
  Type.Object({ type: Type.Literal('content_block_delta'), index: Type.Integer(), delta: BlockDelta }),
  Type.Object({ type: Type.Literal('content_block_stop'), index: Type.Integer() }),
  Type.Object({
    type: Type.Literal('message_delta'),
    delta: Type.Object({ stop_reason: Ending, stop_sequence: orNull(Type.String()) }),
    usage: MessagesUsage,
    ...contextManagement,
    ...incidentShapes,
  }),
  Type.Object({ type: Type.Literal('message_stop') }),
]);
export type MessagesEvent = Static<typeof MessagesEvent>;
