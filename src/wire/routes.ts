/**
 * The routes as data: http/ registers each entry, Identity.endpoints and the OpenAPI document come from it.
 * `bound` routes carry both identity headers on every response, errors and streams included.
 */
import { Type } from '#typebox';
import type { TSchema } from '#typebox';
import { ChatRequest, ChatResponse } from './inference/chat.ts';
import { CompletionRequest, CompletionResponse } from './inference/completions.ts';
import { EmbeddingRequest, EmbeddingResponse } from './inference/embeddings.ts';
import { HealthResponse } from './health.ts';
import { Identity, IdentityQuery } from './identity.ts';
import { ModelEntry, ModelList } from './models.ts';
import { ResidencyList, UnloadRequest, UnloadResponse } from './residency.ts';

export interface Route {
  readonly name: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly summary: string;
  readonly bound: boolean;
  /** False only for /health: no key, no queue, safe to poll. */
  readonly authenticated: boolean;
  readonly body?: TSchema;
  readonly query?: TSchema;
  readonly response: TSchema;
}

const ChatQuery = Type.Object({
  svc_dry_run: Type.Optional(Type.String({ description: '1 explains the request without generating.' })),
});

export const routes = {
  health: {
    name: 'health',
    method: 'GET',
    path: '/health',
    summary: 'Liveness and native readiness; safe to poll, no authentication.',
    bound: false,
    authenticated: false,
    response: HealthResponse,
  },
  identity: {
    name: 'identity',
    method: 'GET',
    path: '/v1/identity',
    summary: 'The exact identity that the process is bound to.',
    bound: true,
    authenticated: true,
    query: IdentityQuery,
    response: Identity,
  },
  models: {
    name: 'models',
    method: 'GET',
    path: '/v1/models',
    summary: 'Installed models.',
    bound: false,
    authenticated: true,
    response: ModelList,
  },
  model: {
    name: 'model',
    method: 'GET',
    path: '/v1/models/*',
    summary: 'One installed model, by id or alias.',
    bound: false,
    authenticated: true,
    response: ModelEntry,
  },
  chatCompletions: {
    name: 'chat_completions',
    method: 'POST',
    path: '/v1/chat/completions',
    summary: 'A chat answer, whole or as a server-sent-event stream.',
    bound: true,
    authenticated: true,
    body: ChatRequest,
    query: ChatQuery,
    response: ChatResponse,
  },
  completions: {
    name: 'completions',
    method: 'POST',
    path: '/v1/completions',
    summary: 'A text completion, whole or as a server-sent-event stream.',
    bound: true,
    authenticated: true,
    body: CompletionRequest,
    response: CompletionResponse,
  },
  embeddings: {
    name: 'embeddings',
    method: 'POST',
    path: '/v1/embeddings',
    summary: 'One vector of 768 numbers per input.',
    bound: true,
    authenticated: true,
    body: EmbeddingRequest,
    response: EmbeddingResponse,
  },
  residency: {
    name: 'residency',
    method: 'GET',
    path: '/svc/residency',
    summary: 'The loaded models, as hearth ps shows them.',
    bound: false,
    authenticated: true,
    response: ResidencyList,
  },
  unload: {
    name: 'unload',
    method: 'POST',
    path: '/svc/unload',
    summary: 'Unloads a model once its running answers have finished.',
    bound: false,
    authenticated: true,
    body: UnloadRequest,
    response: UnloadResponse,
  },
} as const satisfies Record<string, Route>;

/** Identity.endpoints: the names of the interface, and where they are. */
export const endpoints: Readonly<Record<string, string>> = {
  identity: routes.identity.path,
  models: routes.models.path,
  chat_completions: routes.chatCompletions.path,
  completions: routes.completions.path,
  embeddings: routes.embeddings.path,
};
