import { type Static, Type } from 'typebox';
import { OutputItem, OutputText, ReasoningText } from './items.ts';
import { ResponseBody } from './response.ts';

const numbered = { sequence_number: Type.Integer({ description: 'Counts the events of a stream from 0.' }) };
const ofItem = { item_id: Type.String(), output_index: Type.Integer(), ...numbered };
const ofPart = { ...ofItem, content_index: Type.Integer() };
const noLogprobs = { logprobs: Type.Array(Type.Unknown()) };
const Part = Type.Union([OutputText, ReasoningText]);

const LIFECYCLE = ['created', 'in_progress', 'completed', 'incomplete', 'failed'] as const;

export const LifecycleEvent = Type.Union(
  LIFECYCLE.map((name) =>
    Type.Object({ type: Type.Literal(`response.${name}`), response: ResponseBody, ...numbered }),
  ),
);
export interface LifecycleEvent {
  type: `response.${(typeof LIFECYCLE)[number]}`;
  response: ResponseBody;
  sequence_number: number;
}

export const ContentEvent = Type.Union([
  Type.Object({
    type: Type.Literal('response.output_item.added'),
    output_index: Type.Integer(),
    item: OutputItem,
    ...numbered,
  }),
  Type.Object({
    type: Type.Literal('response.output_item.done'),
    output_index: Type.Integer(),
    item: OutputItem,
    ...numbered,
  }),
  Type.Object({ type: Type.Literal('response.content_part.added'), ...ofPart, part: Part }),
  Type.Object({ type: Type.Literal('response.content_part.done'), ...ofPart, part: Part }),
  Type.Object({
    type: Type.Literal('response.output_text.delta'),
    ...ofPart,
    delta: Type.String(),
    ...noLogprobs,
  }),
  Type.Object({
    type: Type.Literal('response.output_text.done'),
    ...ofPart,
    text: Type.String(),
    ...noLogprobs,
  }),
  Type.Object({ type: Type.Literal('response.reasoning_text.delta'), ...ofPart, delta: Type.String() }),
  Type.Object({ type: Type.Literal('response.reasoning_text.done'), ...ofPart, text: Type.String() }),
  Type.Object({
    type: Type.Literal('response.function_call_arguments.delta'),
    ...ofItem,
    delta: Type.String(),
  }),
  Type.Object({
    type: Type.Literal('response.function_call_arguments.done'),
    ...ofItem,
    name: Type.String(),
    arguments: Type.String(),
  }),
  Type.Object({
    type: Type.Literal('response.custom_tool_call_input.delta'),
    ...ofItem,
    delta: Type.String(),
  }),
  Type.Object({
    type: Type.Literal('response.custom_tool_call_input.done'),
    ...ofItem,
    input: Type.String(),
  }),
]);
export type ContentEvent = Static<typeof ContentEvent>;

export const ResponsesEvent = Type.Union([LifecycleEvent, ContentEvent]);
export type ResponsesEvent = LifecycleEvent | ContentEvent;
