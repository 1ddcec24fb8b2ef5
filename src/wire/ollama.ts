/** Ollama's routes for finding models, read-only and in its shapes: clients that only look for models then see them. */
import { type Static, Type } from '#typebox';

const Details = Type.Object({
  parent_model: Type.String(),
  format: Type.String(),
  family: Type.String(),
  families: Type.Array(Type.String()),
  parameter_size: Type.String({ description: 'Rounded, e.g. 270M or 7.6B.' }),
  quantization_level: Type.String(),
});

const named = {
  name: Type.String(),
  model: Type.String(),
  size: Type.Integer(),
  digest: Type.String({ description: 'SHA-256 of the weights, hex; empty when not known.' }),
  details: Details,
};

export const OllamaVersion = Type.Object({ version: Type.String() }, { $id: 'OllamaVersion' });
export type OllamaVersion = Static<typeof OllamaVersion>;

export const OllamaTags = Type.Object(
  { models: Type.Array(Type.Object({ ...named, modified_at: Type.String() })) },
  { $id: 'OllamaTags' },
);
export type OllamaTags = Static<typeof OllamaTags>;

export const OllamaPs = Type.Object(
  {
    models: Type.Array(
      Type.Object({
        ...named,
        expires_at: Type.String({ description: 'The year 9999 while nothing limits its stay.' }),
        size_vram: Type.Integer({ description: 'Bytes of it on GPUs.' }),
        context_length: Type.Integer(),
      }),
    ),
  },
  { $id: 'OllamaPs' },
);
export type OllamaPs = Static<typeof OllamaPs>;

/** What to use in place of Ollama's other routes. */
export const OLLAMA_INSTEAD: Readonly<Record<string, string>> = {
  '/api/chat': 'POST /v1/chat/completions',
  '/api/generate': 'POST /v1/completions',
  '/api/embed': 'POST /v1/embeddings',
  '/api/embeddings': 'POST /v1/embeddings',
  '/api/show': 'GET /v1/models/{id}',
  '/api/pull': 'the command hearth pull',
  '/api/delete': 'the command hearth rm',
  '/api/copy': 'the command hearth cp',
  '/api/create': 'the command hearth import',
};
