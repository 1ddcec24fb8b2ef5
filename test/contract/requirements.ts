/**
 * Every observable sentence of the interface specification, by id, with its words. Tests tie ids to assertions through
 * `verifies`; coverage.test.ts fails when an id has no test or a test cites an unknown one.
 * The routes of other dialects have theirs in folders of their own.
 * Lines whose content the specification itself calls "not shown" promise nothing and are not listed.
 */
import { expect } from 'vitest';
import { furtherSentences } from './further-sentences.ts';
import { messagesSentences } from './messages/sentences.ts';
import { responsesSentences } from './responses/sentences.ts';

interface Requirement {
  readonly section: string;
  readonly quote: string;
}

const within = <const Id extends string>(section: string, quotes: Record<Id, string>) =>
  Object.fromEntries(Object.entries<string>(quotes).map(([id, quote]) => [id, { section, quote }])) as Record<
    Id,
    Requirement
  >;

export const requirements = {
  ...within('What the service does', {
    'service.owns-everything':
      'The service is a local-first router for language models stored in a local model format. It owns the process, its identity, the model registry, storage, routing and lifecycle.',
    'service.native':
      'Text generation and embeddings run through local native binaries. No separate model daemon is required.',
    'service.five-routes':
      'The whole surface is five routes in one dialect: GET /health, GET /v1/identity, GET /v1/models, POST /v1/chat/completions, POST /v1/embeddings.',
    'service.bound':
      'Responses to identity and chat requests are bound to the running process by the headers X-Svc-Instance-Id and X-Svc-Boot-Id.',
    'service.dev-endpoint':
      'The service has a canonical local endpoint and an optional isolated development endpoint; both are reached through {base_url}.',
    'service.banner': 'The service announces a server banner of the form <service_name>/1.2.',
    'service.tool-envelope':
      'A tool envelope protocol named svc-tool-envelope, version 1, is supported on chat requests.',
    'service.launcher': 'Launchers verify the service by reading GET /v1/identity.',
  }),
  ...within('Resources and their fields', {
    'body.json': 'All bodies are JSON (application/json) unless stated.',
  }),
  ...within('HealthResponse', {
    'health.status': 'status | string | yes | Liveness indicator.',
    'health.product': 'product | string | yes | Product name, <product_name>.',
    'health.native-ready': 'native_ready | boolean | yes | Native readiness.',
  }),
  ...within('Identity', {
    'identity.object': 'object | string | Constant type tag of the form svc.identity.',
    'identity.product': 'product | string | <product_name>.',
    'identity.version': 'version | string | Service version string, <version_string>.',
    'identity.instance-id': 'instance_id | string | Identifier of this running instance.',
    'identity.boot-id': 'boot_id | string | Identifier of this boot of the process.',
    'identity.server-source':
      'server_source_sha256 | string | SHA-256 of the server source the process is bound to.',
    'identity.backend':
      'backend_sha256 | string or null | SHA-256 of the bound backend binary; null when no backend is bound.',
    'identity.native-ready':
      'native_ready | boolean | true only when a backend binary is bound and hashable.',
    'identity.default-model': 'default_model | string | Identifier of the default model, <model_id>.',
    'identity.endpoints':
      'endpoints | object | Map from string name to string path. Names seen: identity, models, chat_completions, completions, embeddings.',
    'identity.tool-protocol': 'tool_protocol | object | See ToolProtocol.',
  }),
  ...within('ToolProtocol', {
    'tool-protocol.name': 'name | string | svc-tool-envelope',
    'tool-protocol.version': 'version | integer | 1',
    'tool-protocol.max-calls':
      'max_calls_per_response | integer | Maximum tool calls in one response; the reference value is 1.',
  }),
  ...within('ModelList and ModelEntry', {
    'models.object': 'object | string | Constant "list".',
    'models.data': 'data | array of ModelEntry | Installed models.',
    'model.id': 'id | string | Model identifier, <model_id>.',
    'model.object': 'object | string | Constant "model".',
    'model.owned-by': 'owned_by | string | Owner label, <owner_name>.',
  }),
  ...within('ChatMessage', {
    'message.role': 'role | string | yes | system, user, assistant, tool',
    'message.content': 'content | string | yes | Message text.',
  }),
  ...within('ChatRequest', {
    'chat.model': 'model | string | yes | | <model_id>.',
    'chat.messages': 'messages | array of ChatMessage | yes',
    'chat.temperature': 'temperature | number | no | | Mapped to the native backend option of the same name.',
    'chat.max-tokens': 'max_tokens | integer | no | | Alias mapped to num_predict.',
    'chat.num-predict': 'num_predict | integer | no | | Native option: number of tokens to generate.',
    'chat.num-ctx': 'num_ctx | integer | no | | Requested context window.',
    'chat.stream': 'stream | boolean | no | false | true selects a server-sent-event stream.',
    'chat.tools': 'tools | array of object | no | | Tool definitions under svc-tool-envelope.',
  }),
  ...within('ChatResponse (non-streaming)', {
    'response.id': 'id | string | Completion identifier of the form chatcmpl-svc-<unix_seconds>.',
    'response.object': 'object | string | Constant "chat.completion".',
    'response.created': 'created | integer | Creation time, Unix seconds.',
    'response.model': 'model | string | Model used, <model_id>.',
    'response.choices':
      'choices | array | Each item: index (integer), message (ChatMessage, role assistant in the reference shape), finish_reason (string, reference value "stop").',
    'response.usage': 'usage | object | prompt_tokens, completion_tokens, total_tokens (all integer).',
  }),
  ...within('ChatChunk (streaming)', {
    'chunk.id': 'id | string | Completion identifier of the form chatcmpl-svc-<suffix>.',
    'chunk.object': 'object | string | Constant "chat.completion.chunk".',
    'chunk.choices':
      'choices | array | Each item: index (integer), delta (object; carries content as string when text is delivered, empty object on the last chunk), finish_reason (null until the last chunk, then "stop").',
  }),
  ...within('EmbeddingRequest', {
    'embedding-request.model': 'model | string | yes | <embedding_model>.',
    'embedding-request.input': 'input | string or array of string | yes | One string or a list of strings.',
  }),
  ...within('EmbeddingResponse', {
    'embedding.object': 'object | string | Constant "list".',
    'embedding.data':
      'data | array | One item per input, in input order: object (constant "embedding"), index (integer, position of the input), embedding (array of 768 numbers).',
    'embedding.model': 'model | string | Model used.',
    'embedding.usage': 'usage | object | prompt_tokens (integer), total_tokens (integer).',
  }),
  ...within('ErrorBody', {
    'error.error': 'error | string | Error description.',
  }),
  ...within('Endpoints', {
    'endpoints.bound':
      'The identity and chat routes are bound to the process; responses carry X-Svc-Instance-Id and X-Svc-Boot-Id (both string headers).',
  }),
  ...within('GET /health', {
    'get-health.request': 'Request | No body, no parameters.',
    'get-health.response': 'Response 200 | HealthResponse.',
    'get-health.notes': 'Liveness plus native readiness. Safe to poll. No authentication.',
  }),
  ...within('GET /v1/identity', {
    'get-identity.request': 'Request | No body, no parameters.',
    'get-identity.response': 'Response 200 | Identity. Headers X-Svc-Instance-Id and X-Svc-Boot-Id.',
    'get-identity.notes': 'Reports the exact identity the process is bound to.',
  }),
  ...within('GET /v1/models', {
    'get-models.request': 'Request | No body, no parameters.',
    'get-models.response': 'Response 200 | ModelList of installed models.',
  }),
  ...within('POST /v1/chat/completions', {
    'post-chat.evidence-mode':
      'Request header (optional) | X-Svc-Evidence-Mode, string, allowed value: frozen-v1. Opts into frozen-evidence mode, which applies to non-streaming requests only.',
    'post-chat.request': 'Request body | ChatRequest, application/json.',
    'post-chat.response':
      'Response 200, stream false or absent | ChatResponse, application/json, with headers X-Svc-Instance-Id and X-Svc-Boot-Id.',
    'post-chat.stream': 'Response 200, stream true | Content type text/event-stream.',
    'post-chat.errors': 'Errors | 400 and 404 with ErrorBody.',
    'stream.lines': 'The stream is a sequence of lines of the form `data: <ChatChunk as JSON>`.',
    'stream.text':
      'Each text-bearing chunk carries the text in choices[].delta.content, with finish_reason null.',
    'stream.last': 'The last chunk before the terminator has an empty delta and finish_reason "stop".',
    'stream.done': 'The stream ends with the line `data: [DONE]`.',
    'options.mapping':
      'temperature maps to temperature; num_predict and max_tokens (alias) map to the number of tokens to predict; num_ctx maps to the context window.',
  }),
  ...within('POST /v1/embeddings', {
    'post-embeddings.request': 'Request body | EmbeddingRequest, application/json.',
    'post-embeddings.response':
      'Response 200 | EmbeddingResponse, with header X-Svc-Embed-Backend (string, allowed values: native, feature-hash).',
    'post-embeddings.errors': 'Errors | 400 and 404 with ErrorBody.',
    'embeddings.width': 'Each input string yields one vector of 768 numbers.',
    'embeddings.backend-header':
      'The header X-Svc-Embed-Backend is native when the native embedding helper produced the vectors and feature-hash when the fallback did.',
    'embeddings.fallback':
      'The feature-hash fallback is available when the environment setting SVC_ALLOW_HASH_EMBEDDINGS has the value 1.',
  }),
  ...within('Route listed but not described', {
    'completions.listed': 'The endpoints map of Identity lists a path /v1/completions.',
  }),
  ...within('Authentication', {
    'auth.health': 'GET /health requires no authentication.',
    'auth.not-credentials':
      'The headers X-Svc-Instance-Id and X-Svc-Boot-Id bind a response to the running process; they are not credentials.',
  }),
  ...within('Events', {
    'events.only-chat-stream':
      'The only event-like output is the server-sent-event stream of POST /v1/chat/completions with stream true.',
    'events.unnamed':
      'Its events are ChatChunk data lines and the terminator `data: [DONE]`. No named event types are used.',
  }),
  ...within('Errors', {
    'errors.400':
      '400 | POST /v1/chat/completions, POST /v1/embeddings | ErrorBody; described as a validation or routing error.',
    'errors.404':
      '404 | POST /v1/chat/completions, POST /v1/embeddings | ErrorBody; described as a validation or routing error.',
  }),
  ...within('Limits', {
    'limits.width': 'Embedding vector length | 768 numbers per input',
    'limits.frozen': 'Frozen-evidence mode | non-streaming requests only',
    'limits.tool-calls':
      'Tool calls per response (max_calls_per_response) | reported in Identity.tool_protocol; reference value 1',
  }),
  ...within('Versioning', {
    'versioning.prefix': 'Routes other than /health carry the path prefix /v1.',
    'versioning.version': 'Identity.version carries the service version string, <version_string>.',
    'versioning.banner':
      'The server banner reads <service_name>/1.2; the banner and Identity.version are separate values.',
    'versioning.tool-protocol':
      'The tool protocol is svc-tool-envelope with integer version 1, reported in Identity.tool_protocol.',
  }),
  ...within('Further routes', furtherSentences),
  ...within('Messages', messagesSentences),
  ...within('Responses', responsesSentences),
} as const satisfies Record<string, Requirement>;

export type RequirementId = keyof typeof requirements;

/**
 * Runs the assertions that show these sentences, and fails when there are none. Ask first and assert inside: the
 * callback is synchronous, so that what the shared client asserts about every answer does not count.
 */
export function verifies(ids: RequirementId | readonly RequirementId[], assertions: () => void): void {
  const before = expect.getState().assertionCalls;
  const outcome: unknown = assertions();
  if (outcome instanceof Promise) throw new Error(`${ids}: a citation asserts at once; await before it`);
  if (expect.getState().assertionCalls === before) throw new Error(`${ids}: cited without an assertion`);
}
