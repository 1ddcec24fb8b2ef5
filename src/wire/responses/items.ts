import { type Static, Type } from 'typebox';

/** The type determines the other members, which server/api/dialects/responses reads. */
export type InputItem = Record<string, unknown>;

const ItemStatus = Type.Union([
  Type.Literal('in_progress'),
  Type.Literal('completed'),
  Type.Literal('incomplete'),
]);
export type ItemStatus = Static<typeof ItemStatus>;

export const OutputText = Type.Object({
  type: Type.Literal('output_text'),
  text: Type.String(),
  annotations: Type.Array(Type.Unknown(), { description: 'Always empty; nothing is cited here.' }),
  logprobs: Type.Array(Type.Unknown(), { description: 'Always empty.' }),
});
export type OutputText = Static<typeof OutputText>;

export const ReasoningText = Type.Object({ type: Type.Literal('reasoning_text'), text: Type.String() });
export type ReasoningText = Static<typeof ReasoningText>;

export const MessageItem = Type.Object({
  id: Type.String(),
  type: Type.Literal('message'),
  status: ItemStatus,
  role: Type.Literal('assistant'),
  content: Type.Array(OutputText),
});
export type MessageItem = Static<typeof MessageItem>;

export const ReasoningItem = Type.Object({
  id: Type.String(),
  type: Type.Literal('reasoning'),
  status: ItemStatus,
  summary: Type.Array(Type.Unknown(), { description: 'Always empty; the thinking itself is in content.' }),
  content: Type.Array(ReasoningText),
  encrypted_content: Type.Optional(
    Type.String({
      description: 'The thinking once more, encoded but readable, for clients that keep only this.',
    }),
  ),
});
export type ReasoningItem = Static<typeof ReasoningItem>;

export const FunctionCallItem = Type.Object({
  id: Type.String(),
  type: Type.Literal('function_call'),
  status: ItemStatus,
  call_id: Type.String(),
  name: Type.String(),
  namespace: Type.Optional(Type.String({ description: 'Where the tool was defined in one.' })),
  arguments: Type.String({ description: 'JSON text.' }),
});
export type FunctionCallItem = Static<typeof FunctionCallItem>;

export const CustomCallItem = Type.Object({
  id: Type.String(),
  type: Type.Literal('custom_tool_call'),
  status: ItemStatus,
  call_id: Type.String(),
  name: Type.String(),
  namespace: Type.Optional(Type.String()),
  input: Type.String(),
});
export type CustomCallItem = Static<typeof CustomCallItem>;

/** Sent back by a client, the item replaces everything before it. */
export const CompactionItem = Type.Object({
  id: Type.String(),
  type: Type.Literal('compaction'),
  encrypted_content: Type.String({ description: 'The shorter conversation, encoded but readable.' }),
});
export type CompactionItem = Static<typeof CompactionItem>;

export const OutputItem = Type.Union([
  ReasoningItem,
  MessageItem,
  FunctionCallItem,
  CustomCallItem,
  CompactionItem,
]);
export type OutputItem = Static<typeof OutputItem>;
