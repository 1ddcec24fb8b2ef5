import { type Static, Type } from 'typebox';
import { SAMPLING_ROWS } from '../../contract/sampling-shapes.ts';
import { generationFields, samplingFields } from '../inference/generation.ts';
import { KeepAlive, nullable } from '../schema.ts';

const otherRanges = Object.fromEntries(
  SAMPLING_ROWS.flatMap(([, { wire, request, ollama }]) =>
    ollama === undefined
      ? []
      : [
          [
            wire,
            nullable<number>('integer', { ...request, type: ['integer', 'null'], minimum: ollama.minimum }),
          ],
        ],
  ),
) as Partial<typeof samplingFields>;

export const optionFields = {
  ...samplingFields,
  ...otherRanges,
  num_predict: nullable<number>('integer', {
    minimum: -2,
    description: 'Tokens to generate at most; 0 and less are unlimited.',
  }),
  num_ctx: generationFields.num_ctx,
  stop: generationFields.stop,
};

const OptionShape = Type.Object(optionFields);
export type OllamaOptions = Static<typeof OptionShape>;

const shared = {
  model: Type.String({ minLength: 1, maxLength: 512 }),
  options: nullable<OllamaOptions>('object', { properties: optionFields }),
  keep_alive: KeepAlive,
};

const generation = {
  ...shared,
  stream: nullable<boolean>('boolean', { description: 'false answers as a whole; lines of JSON otherwise.' }),
  format: Type.Optional(
    Type.Unsafe<string | Record<string, unknown> | null>({
      type: ['string', 'object', 'null'],
      description: '"json", or the JSON Schema of the answer.',
    }),
  ),
  think: Type.Optional(
    Type.Unsafe<boolean | string | null>({
      type: ['boolean', 'string', 'null'],
      description: 'Switches thinking of models that can, or says how much: low, medium, high.',
    }),
  ),
  logprobs: nullable<boolean>('boolean'),
  top_logprobs: nullable<number>('integer', { minimum: 0, maximum: 20 }),
};

export const OllamaMessage = Type.Object({
  role: Type.Unsafe<'system' | 'user' | 'assistant' | 'tool'>({
    type: 'string',
    enum: ['system', 'user', 'assistant', 'tool'],
  }),
  content: nullable<string>('string'),
  thinking: nullable<string>('string'),
  images: nullable<unknown[]>('array', { description: 'Base64, without a prefix.' }),
  tool_calls: nullable<unknown[]>('array'),
  tool_name: nullable<string>('string', { description: 'On a result: the tool that was called.' }),
  tool_call_id: nullable<string>('string'),
});
export type OllamaMessage = Static<typeof OllamaMessage>;

export const OllamaChatRequest = Type.Object(
  {
    ...generation,
    messages: Type.Optional(
      Type.Unsafe<OllamaMessage[] | null>({
        type: ['array', 'null'],
        maxItems: 4096,
        items: OllamaMessage,
        description: 'Without any, the model is loaded, or unloaded with keep_alive 0.',
      }),
    ),
    tools: nullable<unknown[]>('array', { maxItems: 128 }),
  },
  { $id: 'OllamaChatRequest' },
);
export type OllamaChatRequest = Static<typeof OllamaChatRequest>;

export const OllamaGenerateRequest = Type.Object(
  {
    ...generation,
    prompt: nullable<string>('string', {
      description: 'Without one, the model is loaded, or unloaded with keep_alive 0.',
    }),
    system: nullable<string>('string'),
    suffix: nullable<string>('string', { description: 'The answer fills the gap between prompt and this.' }),
    raw: nullable<boolean>('boolean', { description: 'true: no chat template is applied.' }),
    images: nullable<unknown[]>('array'),
    context: nullable<unknown[]>('array', { description: 'Must be empty; send conversations to /api/chat.' }),
  },
  { $id: 'OllamaGenerateRequest' },
);
export type OllamaGenerateRequest = Static<typeof OllamaGenerateRequest>;

export const OllamaEmbedRequest = Type.Object(
  {
    ...shared,
    input: Type.Optional(
      Type.Unsafe<string | unknown[] | null>({
        type: ['string', 'array', 'null'],
        documented: { maxItems: 2048, items: { type: 'string', minLength: 1 } },
        description: 'One text or several. Without any, the model is loaded.',
      }),
    ),
    truncate: nullable<boolean>('boolean', { description: 'false refuses inputs that are too long.' }),
    dimensions: nullable<number>('integer', {
      description: "Numbers per vector; the model's own unless set.",
    }),
  },
  { $id: 'OllamaEmbedRequest' },
);
export type OllamaEmbedRequest = Static<typeof OllamaEmbedRequest>;

export const OllamaEmbeddingsRequest = Type.Object(
  { ...shared, prompt: nullable<string>('string') },
  { $id: 'OllamaEmbeddingsRequest' },
);
export type OllamaEmbeddingsRequest = Static<typeof OllamaEmbeddingsRequest>;
