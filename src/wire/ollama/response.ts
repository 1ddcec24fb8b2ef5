import { type Static, Type } from 'typebox';
import { incidentShapes, TokenLogprob } from '../inference/generation.ts';

export const OllamaToolCall = Type.Object({
  id: Type.String(),
  function: Type.Object({
    index: Type.Integer(),
    name: Type.String(),
    arguments: Type.Record(Type.String(), Type.Unknown()),
  }),
});
export type OllamaToolCall = Static<typeof OllamaToolCall>;

const Logprobs = Type.Optional(
  Type.Array(
    Type.Object({ ...TokenLogprob.properties, top_logprobs: Type.Optional(Type.Array(TokenLogprob)) }),
  ),
);

/** Durations are nanoseconds. */
const ending = {
  done: Type.Boolean(),
  done_reason: Type.Optional(
    Type.Union(['stop', 'length', 'load', 'unload'].map((reason) => Type.Literal(reason))),
  ),
  total_duration: Type.Optional(Type.Integer()),
  load_duration: Type.Optional(
    Type.Integer({
      description: 'Until the engine took the request, in line and while the model was loaded.',
    }),
  ),
  prompt_eval_count: Type.Optional(Type.Integer({ description: 'All tokens of the prompt.' })),
  prompt_eval_duration: Type.Optional(Type.Integer()),
  eval_count: Type.Optional(Type.Integer()),
  eval_duration: Type.Optional(Type.Integer()),
  ...incidentShapes,
};

const head = { model: Type.String(), created_at: Type.String() };

export const OllamaChatAnswer = Type.Object(
  {
    ...head,
    message: Type.Object({
      role: Type.Literal('assistant'),
      content: Type.String(),
      thinking: Type.Optional(Type.String()),
      tool_calls: Type.Optional(Type.Array(OllamaToolCall)),
    }),
    logprobs: Logprobs,
    ...ending,
  },
  { $id: 'OllamaChatAnswer' },
);

export const OllamaGenerateAnswer = Type.Object(
  {
    ...head,
    response: Type.String(),
    thinking: Type.Optional(Type.String()),
    logprobs: Logprobs,
    ...ending,
  },
  { $id: 'OllamaGenerateAnswer' },
);

export const OllamaEmbedAnswer = Type.Object(
  {
    model: Type.String(),
    embeddings: Type.Array(Type.Array(Type.Number())),
    total_duration: Type.Integer({ description: 'Nanoseconds.' }),
    prompt_eval_count: Type.Integer(),
  },
  { $id: 'OllamaEmbedAnswer' },
);
export type OllamaEmbedAnswer = Static<typeof OllamaEmbedAnswer>;

export const OllamaEmbeddingsAnswer = Type.Object(
  { embedding: Type.Array(Type.Number()) },
  { $id: 'OllamaEmbeddingsAnswer' },
);
export type OllamaEmbeddingsAnswer = Static<typeof OllamaEmbeddingsAnswer>;
