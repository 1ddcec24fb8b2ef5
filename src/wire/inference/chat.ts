import { type Static, Type } from 'typebox';
import {
  answerFormatFields,
  ChoiceLogprobs,
  generationFields,
  PromptProgress,
  incidentShapes,
  Resumption,
  Timings,
  TrueFinishReason,
  WireFinishReason,
  Usage,
} from './generation.ts';
import { nullable } from '../schema.ts';
import { MOST_ALTERNATIVES } from '../../contract/limits.ts';
import { evidenceField, evidenceMember } from './evidence.ts';
import { promptLogprobsField, promptLogprobsShapes } from './prompt-logprobs.ts';
import { ToolCall, ToolCallDelta } from './tool-envelope.ts';

export interface ContentPart {
  type: string;
  text?: string;
  [key: string]: unknown;
}

/**
 * The interface's role and content, and the additions of OpenAI clients. server/api/intake checks the rules that a schema
 * cannot express (content null only with tool calls, text parts only).
 */
export const RequestMessage = Type.Object({
  role: Type.Unsafe<'system' | 'user' | 'assistant' | 'tool' | 'developer'>({
    type: 'string',
    enum: ['system', 'user', 'assistant', 'tool', 'developer'],
  }),
  content: Type.Optional(
    Type.Unsafe<string | ContentPart[] | null>({
      type: ['string', 'array', 'null'],
      items: { type: 'object' },
    }),
  ),
  name: nullable<string>('string'),
  tool_calls: nullable<unknown[]>('array'),
  tool_call_id: nullable<string>('string'),
  reasoning_content: nullable<string>('string'),
  reasoning: nullable<string>('string', { description: 'Another name of reasoning_content.' }),
  thinking: nullable<string>('string', { description: 'Another name of reasoning_content.' }),
});
export type RequestMessage = Static<typeof RequestMessage>;

export const ChatRequest = Type.Object(
  {
    model: Type.String({ minLength: 1, maxLength: 512 }),
    messages: Type.Array(RequestMessage, { minItems: 1, maxItems: 4096 }),
    ...generationFields,
    tools: nullable<unknown[]>('array', {
      maxItems: 128,
      description: 'OpenAI function tools, or {name, description, parameters}.',
    }),
    tool_choice: Type.Optional(
      Type.Unsafe<string | Record<string, unknown> | null>({
        type: ['string', 'object', 'null'],
        description:
          'none, auto, required, {"type":"function","function":{"name":…}}, or {"type":"allowed_tools","allowed_tools":{"mode":…,"tools":[…]}}.',
      }),
    ),
    parallel_tool_calls: nullable<boolean>('boolean', {
      description:
        'true allows several calls in one answer, where the model writes them; else at most one is made.',
    }),
    add_generation_prompt: nullable<boolean>('boolean', {
      description: 'false leaves out what the template opens an answer with.',
    }),
    continue_final_message: nullable<boolean>('boolean', {
      description:
        'true lets the answer go on behind the last message, which is one of the assistant; the answer holds only what is new.',
    }),
    ...answerFormatFields,
    logprobs: nullable<boolean>('boolean'),
    top_logprobs: nullable<number>('integer', { minimum: 0, maximum: MOST_ALTERNATIVES }),
    ...promptLogprobsField,
    ...evidenceField,
    reasoning_effort: nullable<string>('string', {
      enum: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', null],
    }),
    enable_thinking: nullable<boolean>('boolean', { description: 'Switches reasoning of models that can.' }),
    reasoning_budget: nullable<number>('integer', { minimum: 0, description: 'Reasoning tokens at most.' }),
    chat_template_kwargs: nullable<Record<string, unknown>>('object', {
      description: 'Only enable_thinking is read from it; template variables are not open to clients.',
    }),
  },
  { $id: 'ChatRequest' },
);
export type ChatRequest = Static<typeof ChatRequest>;

export const ChatMessage = Type.Object(
  {
    role: Type.Literal('assistant'),
    content: Type.String(),
    refusal: Type.Optional(Type.Null({ description: 'Part of an OpenAI answer; left out of signed ones.' })),
    reasoning_content: Type.Optional(Type.String()),
    tool_calls: Type.Optional(Type.Array(ToolCall)),
  },
  { $id: 'ChatMessage' },
);
export type ChatMessage = Static<typeof ChatMessage>;

export const ChatChoice = Type.Object({
  index: Type.Integer(),
  message: ChatMessage,
  finish_reason: WireFinishReason,
  svc_finish_reason: TrueFinishReason,
  logprobs: Type.Optional(Type.Union([ChoiceLogprobs, Type.Null()])),
});

export const ChatResponse = Type.Object(
  {
    id: Type.String({ pattern: '^chatcmpl-svc-[0-9]+$' }),
    object: Type.Literal('chat.completion'),
    created: Type.Integer(),
    model: Type.String(),
    choices: Type.Array(ChatChoice),
    usage: Usage,
    ...promptLogprobsShapes,
    system_fingerprint: Type.Optional(Type.String()),
    timings: Type.Optional(Timings),
    svc_resumed: Type.Optional(Resumption),
    ...incidentShapes,
    ...evidenceMember,
  },
  { $id: 'ChatResponse' },
);
export type ChatResponse = Static<typeof ChatResponse>;

export const ChatDelta = Type.Object({
  role: Type.Optional(Type.Literal('assistant')),
  content: Type.Optional(Type.String()),
  reasoning_content: Type.Optional(Type.String()),
  tool_calls: Type.Optional(Type.Array(ToolCallDelta)),
});
export type ChatDelta = Static<typeof ChatDelta>;

export const ChatChunk = Type.Object(
  {
    id: Type.String({ pattern: '^chatcmpl-svc-.+$' }),
    object: Type.Literal('chat.completion.chunk'),
    created: Type.Integer(),
    model: Type.String(),
    choices: Type.Array(
      Type.Object({
        index: Type.Integer(),
        delta: ChatDelta,
        finish_reason: Type.Union([WireFinishReason, Type.Null()]),
        svc_finish_reason: Type.Optional(TrueFinishReason),
        logprobs: Type.Optional(Type.Union([ChoiceLogprobs, Type.Null()])),
      }),
    ),
    usage: Type.Optional(Usage),
    system_fingerprint: Type.Optional(Type.String()),
    timings: Type.Optional(Timings),
    prompt_progress: Type.Optional(PromptProgress),
    svc_resumed: Type.Optional(Resumption),
    ...incidentShapes,
    ...evidenceMember,
    svc_answer: Type.Optional(
      Type.Object(
        { model: Type.String(), choices: Type.Array(ChatChoice), usage: Usage },
        { description: 'Beside `evidence`: the whole answer, which the record is of.' },
      ),
    ),
  },
  { $id: 'ChatChunk' },
);
export type ChatChunk = Static<typeof ChatChunk>;
