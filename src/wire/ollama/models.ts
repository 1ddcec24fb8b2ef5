/**
 * wire/ollama owns the shapes of Ollama's API. It knows no default of a model and no use case. This file: requests
 * and answers about models.
 */
import { type Static, Type } from 'typebox';
import { nullable } from '../schema.ts';

const MODEL_NAME = { minLength: 1, maxLength: 512 };

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

/** Clients require a minimum version of Ollama before they use a route. */
export const OLLAMA_API_VERSION = '0.12.11';

export const OllamaShowRequest = Type.Object(
  { model: nullable<string>('string', MODEL_NAME), name: nullable<string>('string', MODEL_NAME) },
  { $id: 'OllamaShowRequest' },
);
export type OllamaShowRequest = Static<typeof OllamaShowRequest>;

export const OllamaShow = Type.Object(
  {
    parameters: Type.String({ description: 'Defaults of the model, one `name value` per line.' }),
    template: Type.String({
      description: 'The chat template, as Jinja; empty where the engine of the model does not tell it.',
    }),
    system: Type.Optional(Type.String({ description: 'The system prompt that is set for the model.' })),
    details: Details,
    model_info: Type.Record(Type.String(), Type.Unknown(), {
      description: 'Facts as GGUF names them: general.architecture, ARCHITECTURE.context_length and others.',
    }),
    capabilities: Type.Array(Type.String(), {
      description: 'completion, tools, thinking, vision, embedding.',
    }),
    modified_at: Type.String(),
  },
  { $id: 'OllamaShow' },
);
export type OllamaShow = Static<typeof OllamaShow>;

export const OllamaCopyRequest = Type.Object(
  { source: Type.String(MODEL_NAME), destination: Type.String(MODEL_NAME) },
  { $id: 'OllamaCopyRequest' },
);
export type OllamaCopyRequest = Static<typeof OllamaCopyRequest>;

export const OllamaPullRequest = Type.Object(
  { ...OllamaShowRequest.properties, stream: nullable<boolean>('boolean') },
  { $id: 'OllamaPullRequest' },
);
export type OllamaPullRequest = Static<typeof OllamaPullRequest>;

export const OllamaStatus = Type.Object(
  {
    status: Type.String(),
    digest: Type.Optional(Type.String()),
    total: Type.Optional(Type.Integer()),
    completed: Type.Optional(Type.Integer()),
  },
  { $id: 'OllamaStatus' },
);
export type OllamaStatus = Static<typeof OllamaStatus>;

export const OLLAMA_INSTEAD: Readonly<Record<string, string>> = {
  '/api/create': 'the command hearth import',
};
