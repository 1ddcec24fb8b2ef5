/** Content blocks of the Messages dialect: as clients send them, and as answers carry them. */
import { type Static, Type } from 'typebox';
import { orNull } from '../schema.ts';

/** A block of a request; its type says what else it has, and api/dialects/messages reads that. */
export interface RequestBlock {
  type: string;
  [key: string]: unknown;
}

/** Content as clients send it: text, or a list of blocks. */
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

/** The conversation was made shorter: the block replaces all that precedes it when a client sends it again. */
export const CompactionBlock = Type.Object({
  type: Type.Literal('compaction'),
  content: orNull(Type.String({ description: 'The summary.' })),
  encrypted_content: orNull(
    Type.String({ description: 'The turns that stay, encoded and not encrypted; send them back unchanged.' }),
  ),
});

export const AnswerBlock = Type.Union([TextBlock, ThinkingBlock, ToolUseBlock, CompactionBlock]);
export type AnswerBlock = Static<typeof AnswerBlock>;
