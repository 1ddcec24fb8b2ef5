import { type Static, Type } from 'typebox';

/** The tool protocol in the identity (interface, ToolProtocol). */
export const ToolProtocol = Type.Object(
  {
    name: Type.Literal('svc-tool-envelope'),
    version: Type.Literal(1),
    max_calls_per_response: Type.Integer(),
  },
  { $id: 'ToolProtocol' },
);
export type ToolProtocol = Static<typeof ToolProtocol>;

export const TOOL_PROTOCOL: ToolProtocol = {
  name: 'svc-tool-envelope',
  version: 1,
  max_calls_per_response: 1,
};

export const ToolCall = Type.Object({
  id: Type.String(),
  type: Type.Literal('function'),
  function: Type.Object({ name: Type.String(), arguments: Type.String() }),
});
export type ToolCall = Static<typeof ToolCall>;

/** Id, type and name come first, then the arguments in pieces. */
export const ToolCallDelta = Type.Object({
  index: Type.Integer(),
  id: Type.Optional(Type.String()),
  type: Type.Optional(Type.Literal('function')),
  function: Type.Object({ name: Type.Optional(Type.String()), arguments: Type.String() }),
});
export type ToolCallDelta = Static<typeof ToolCallDelta>;
