import { type Static, Type } from 'typebox';
import { orNull } from '../schema.ts';

/** The type determines the other members, which server/api/dialects/messages reads. */
export interface RequestBlock {
  type: string;
  [key: string]: unknown;
}

export const RequestContent = Type.Unsafe<string | RequestBlock[]>({
  type: ['string', 'array'],
  items: { type: 'object', required: ['type'], properties: { type: { type: 'string' } } },
});

export const TextBlock = Type.Object({ type: Type.Literal('text'), text: Type.String() });

export const ThinkingBlock = Type.Object({
  type: Type.Literal('thinking'),
  thinking: Type.String(),
  signature: Type.String({
    description: 'A digest of the thinking, for clients that want one; it is not checked when it comes back.',
  }),
});

export const ToolUseBlock = Type.Object({
  type: Type.Literal('tool_use'),
  id: Type.String(),
  name: Type.String(),
  input: Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true }),
});

/** Sent back by a client, the block replaces everything before it. */
export const CompactionBlock = Type.Object({
  type: Type.Literal('compaction'),
  content: orNull(Type.String({ description: 'The summary.' })),
  encrypted_content: orNull(
    Type.String({ description: 'The turns that stay, encoded and not encrypted; send them back unchanged.' }),
  ),
});

export const AnswerBlock = Type.Union([TextBlock, ThinkingBlock, ToolUseBlock, CompactionBlock]);
export type AnswerBlock = Static<typeof AnswerBlock>;
