/**
 * wire owns the HTTP surface: schemas of every resource, header names, and here every route as data. It knows no handler
 * and no use case. http/ registers the entries and takes its access rules from them; Identity.endpoints and the
 * OpenAPI document are derived. That a response names the process by both identity headers is no property of a route:
 * every response does, refusals and streams included.
 */
import { EMBEDDING_WIDTH } from '../contract/limits.ts';
import { Type } from 'typebox';
import type { TSchema } from 'typebox';
import { ChatRequest, ChatResponse } from './inference/chat.ts';
import { CompletionRequest, CompletionResponse } from './inference/completions.ts';
import { DecisionRequest, DecisionResponse } from './inference/decisions.ts';
import { EmbeddingRequest, EmbeddingResponse } from './inference/embeddings.ts';
import {
  BatchesQuery,
  BatchList,
  Batch,
  BatchRequest,
  DeletedFile,
  FileList,
  FileObject,
  FilesQuery,
} from './batches.ts';
import type { Dialect } from './error.ts';
import { HealthResponse } from './health.ts';
import { Identity, IdentityQuery } from './identity.ts';
import { RerankRequest, RerankResponse } from './inference/rerank.ts';
import {
  DetokenizeRequest,
  DetokenizeResponse,
  TokenizeRequest,
  TokenizeResponse,
} from './inference/tokens.ts';
import { CountTokensRequest, CountTokensResponse, MessagesRequest } from './messages/request.ts';
import { MessagesResponse } from './messages/response.ts';
import { ModelEntry, ModelList } from './models.ts';
import {
  InfillRequest,
  NativeCompletion,
  NativeCompletionRequest,
  NativeTokenizeRequest,
} from './llama-server.ts';
import {
  OllamaCopyRequest,
  OllamaPs,
  OllamaPullRequest,
  OllamaShow,
  OllamaShowRequest,
  OllamaStatus,
  OllamaTags,
  OllamaVersion,
} from './ollama/models.ts';
import {
  OllamaChatRequest,
  OllamaEmbeddingsRequest,
  OllamaEmbedRequest,
  OllamaGenerateRequest,
} from './ollama/request.ts';
import {
  OllamaChatAnswer,
  OllamaEmbedAnswer,
  OllamaEmbeddingsAnswer,
  OllamaGenerateAnswer,
} from './ollama/response.ts';
import {
  CompactRequest,
  InputTokensRequest,
  ItemsQuery,
  ResponseQuery,
  ResponsesRequest,
} from './responses/request.ts';
import {
  CancelledResponse,
  CompactedResponse,
  DeletedResponse,
  InputTokens,
  ItemList,
  ResponseBody,
} from './responses/response.ts';
import { CacheReport } from './prompt-cache.ts';
import { EngineState } from './operation/engine-state.ts';
import { QuitRequest, QuitResponse } from './operation/quit.ts';
import {
  AliasRequest,
  Changed,
  ForeignModels,
  FoundModels,
  ImportRequest,
  KeyUses,
  Library,
  LoadPlan,
  NamedModel,
  PageToken,
  PlanQuery,
  PullRequest,
  Quants,
  QuantsQuery,
  RestoreRequest,
  SearchQuery,
  SettingsRequest,
} from './operation/library.ts';
import { RequestDetail, RequestList, RequestQuery } from './operation/requests.ts';
import { ResidencyList, UnloadRequest, UnloadResponse } from './residency.ts';

export interface Route {
  readonly name: string;
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly summary: string;
  /** Whether the API key is asked for, when one is set. */
  readonly authenticated: boolean;
  /** Answered while the service still starts; other requests wait. */
  readonly early?: boolean;
  /**
   * Needs an admin key; where no key is set, the token that only the page of the user that runs the service gets: from all
   * callers, from pages only, or (`of keys`) from nobody. `of owner` needs that token beside any key.
   */
  readonly admin?: 'always' | 'from pages' | 'of keys' | 'of owner';
  /** Asked for by those who watch: logged at debug, and not recorded. */
  readonly polled?: boolean;
  /** Asks a model or its vocabulary: counts against the requests that a named key may have at a time. */
  readonly computes?: boolean;
  /** Its jobs wait for a slot, so it is refused before its body is read where no place to wait is left. */
  readonly queued?: boolean;
  /** Whose words its failures and streams use; absent: those of the interface. */
  readonly dialect?: Dialect;
  /** Fields of the interface's own body. A client that sends others reads OpenAI's words. */
  readonly plainFields?: readonly string[];
  /** Its body is a form with a file, and no JSON. */
  readonly takesForm?: boolean;
  /** Shown by a browser as a page of its own: a link of another site may lead here. */
  readonly forBrowsers?: boolean;
  /** Left out of the OpenAPI document, and free to answer anything. */
  readonly hidden?: boolean;
  readonly body?: TSchema;
  readonly query?: TSchema;
  readonly response?: TSchema;
}

/** What decides who may call a route, when, and how it is refused. */
export type RouteAccess = Pick<
  Route,
  | 'authenticated'
  | 'admin'
  | 'early'
  | 'dialect'
  | 'plainFields'
  | 'polled'
  | 'forBrowsers'
  | 'computes'
  | 'queued'
  | 'takesForm'
>;

const PLAIN_OPTIONS = ['model', 'temperature', 'max_tokens', 'num_predict', 'num_ctx', 'stream'] as const;

const ChatQuery = Type.Object({
  svc_dry_run: Type.Optional(Type.String({ description: '1 explains the request without generating.' })),
});

export const routes = {
  health: {
    name: 'health',
    method: 'GET',
    path: '/health',
    summary: 'Liveness and native readiness; safe to poll, no authentication.',
    authenticated: false,
    early: true,
    polled: true,
    response: HealthResponse,
  },
  identity: {
    name: 'identity',
    method: 'GET',
    path: '/v1/identity',
    summary: 'The exact identity that the process is bound to.',
    authenticated: true,
    query: IdentityQuery,
    response: Identity,
  },
  models: {
    name: 'models',
    method: 'GET',
    path: '/v1/models',
    summary: 'Installed models.',
    authenticated: true,
    response: ModelList,
  },
  model: {
    name: 'model',
    method: 'GET',
    path: '/v1/models/*',
    summary: 'One installed model, by id or alias.',
    authenticated: true,
    response: ModelEntry,
  },
  chatCompletions: {
    name: 'chat_completions',
    method: 'POST',
    path: '/v1/chat/completions',
    computes: true,
    queued: true,
    plainFields: [...PLAIN_OPTIONS, 'messages', 'tools'],
    summary: 'A chat answer, whole or as a server-sent-event stream.',
    authenticated: true,
    body: ChatRequest,
    query: ChatQuery,
    response: ChatResponse,
  },
  completions: {
    name: 'completions',
    method: 'POST',
    path: '/v1/completions',
    computes: true,
    queued: true,
    plainFields: [...PLAIN_OPTIONS, 'prompt'],
    summary: 'A text completion, whole or as a server-sent-event stream.',
    authenticated: true,
    body: CompletionRequest,
    response: CompletionResponse,
  },
  embeddings: {
    name: 'embeddings',
    method: 'POST',
    path: '/v1/embeddings',
    computes: true,
    plainFields: ['model', 'input'],
    summary: `One vector per input, of ${EMBEDDING_WIDTH} numbers unless dimensions says otherwise.`,
    authenticated: true,
    body: EmbeddingRequest,
    response: EmbeddingResponse,
  },
  rerank: {
    name: 'rerank',
    method: 'POST',
    path: '/v1/rerank',
    computes: true,
    summary: 'Documents in the order of how well they answer a query.',
    authenticated: true,
    body: RerankRequest,
    response: RerankResponse,
  },
  decisions: {
    name: 'decisions',
    method: 'POST',
    path: '/v1/decisions',
    computes: true,
    queued: true,
    summary: 'How likely each option of typed questions about one input is; nothing is generated.',
    authenticated: true,
    body: DecisionRequest,
    response: DecisionResponse,
  },
  tokenize: {
    name: 'tokenize',
    method: 'POST',
    path: '/v1/tokenize',
    computes: true,
    summary: "A text as tokens of a model's own vocabulary.",
    authenticated: true,
    body: TokenizeRequest,
    response: TokenizeResponse,
  },
  detokenize: {
    name: 'detokenize',
    method: 'POST',
    path: '/v1/detokenize',
    computes: true,
    summary: "Tokens of a model's own vocabulary as text.",
    authenticated: true,
    body: DetokenizeRequest,
    response: DetokenizeResponse,
  },
  messages: {
    name: 'messages',
    method: 'POST',
    path: '/v1/messages',
    computes: true,
    queued: true,
    summary: "A chat answer in Anthropic's Messages dialect, whole or as a stream of named events.",
    authenticated: true,
    dialect: 'messages',
    body: MessagesRequest,
    response: MessagesResponse,
  },
  countTokens: {
    name: 'messages_count_tokens',
    method: 'POST',
    path: '/v1/messages/count_tokens',
    computes: true,
    summary: 'How many tokens the prompt of a Messages request has; generates nothing.',
    authenticated: true,
    dialect: 'messages',
    body: CountTokensRequest,
    response: CountTokensResponse,
  },
  responses: {
    name: 'responses',
    method: 'POST',
    path: '/v1/responses',
    computes: true,
    queued: true,
    summary: "A chat answer in OpenAI's Responses dialect, whole or as a stream of named events.",
    authenticated: true,
    dialect: 'responses',
    body: ResponsesRequest,
    response: ResponseBody,
  },
  inputTokens: {
    name: 'responses_input_tokens',
    method: 'POST',
    path: '/v1/responses/input_tokens',
    computes: true,
    summary: 'How many tokens the prompt of a Responses request has; generates nothing.',
    authenticated: true,
    dialect: 'responses',
    body: InputTokensRequest,
    response: InputTokens,
  },
  compactResponse: {
    name: 'responses_compact',
    method: 'POST',
    path: '/v1/responses/compact',
    computes: true,
    summary: 'Makes a conversation shorter: a summary by the model stands for all but words of the user.',
    authenticated: true,
    dialect: 'responses',
    body: CompactRequest,
    response: CompactedResponse,
  },
  response: {
    name: 'response',
    method: 'GET',
    path: '/v1/responses/:id',
    summary: 'A response that was stored.',
    authenticated: true,
    dialect: 'responses',
    query: ResponseQuery,
    response: ResponseBody,
  },
  deleteResponse: {
    name: 'delete_response',
    method: 'DELETE',
    path: '/v1/responses/:id',
    summary: 'Removes a response that was stored.',
    authenticated: true,
    dialect: 'responses',
    response: DeletedResponse,
  },
  responseItems: {
    name: 'response_input_items',
    method: 'GET',
    path: '/v1/responses/:id/input_items',
    summary: 'The items of the conversation that led to a stored response.',
    authenticated: true,
    dialect: 'responses',
    query: ItemsQuery,
    response: ItemList,
  },
  cancelResponse: {
    name: 'cancel_response',
    method: 'POST',
    path: '/v1/responses/:id/cancel',
    summary: 'Stops a response that is being streamed.',
    authenticated: true,
    dialect: 'responses',
    response: CancelledResponse,
  },
  sendFile: {
    name: 'send_file',
    method: 'POST',
    path: '/v1/files',
    summary:
      'Takes the requests of a batch: a form with the parts purpose, which is batch, and file, a request a line.',
    authenticated: true,
    dialect: 'responses',
    takesForm: true,
    response: FileObject,
  },
  files: {
    name: 'files',
    method: 'GET',
    path: '/v1/files',
    summary: 'The files of the key: those that were sent, and those that batches made.',
    authenticated: true,
    dialect: 'responses',
    query: FilesQuery,
    response: FileList,
  },
  file: {
    name: 'file',
    method: 'GET',
    path: '/v1/files/:id',
    summary: 'What is known of a file.',
    authenticated: true,
    dialect: 'responses',
    response: FileObject,
  },
  fileContent: {
    name: 'file_content',
    method: 'GET',
    path: '/v1/files/:id/content',
    summary: 'The bytes of a file.',
    authenticated: true,
    dialect: 'responses',
    response: Type.String({ description: 'As they were sent or written, a JSON text a line.' }),
  },
  deleteFile: {
    name: 'delete_file',
    method: 'DELETE',
    path: '/v1/files/:id',
    summary: 'Removes a file that no batch needs any more.',
    authenticated: true,
    dialect: 'responses',
    response: DeletedFile,
  },
  createBatch: {
    name: 'create_batch',
    method: 'POST',
    path: '/v1/batches',
    summary: 'Answers the requests of a file while nothing else waits.',
    authenticated: true,
    dialect: 'responses',
    body: BatchRequest,
    response: Batch,
  },
  batches: {
    name: 'batches',
    method: 'GET',
    path: '/v1/batches',
    summary: 'The batches of the key, the newest first.',
    authenticated: true,
    dialect: 'responses',
    query: BatchesQuery,
    response: BatchList,
  },
  batch: {
    name: 'batch',
    method: 'GET',
    path: '/v1/batches/:id',
    summary: 'How a batch fares.',
    authenticated: true,
    dialect: 'responses',
    response: Batch,
  },
  cancelBatch: {
    name: 'cancel_batch',
    method: 'POST',
    path: '/v1/batches/:id/cancel',
    summary: 'Ends a batch; what was answered is kept.',
    authenticated: true,
    dialect: 'responses',
    response: Batch,
  },
  nativeCompletion: {
    name: 'llama_server_completion',
    method: 'POST',
    path: '/completion',
    computes: true,
    queued: true,
    summary: "A text completion in llama-server's own shape, whole or as a stream.",
    authenticated: true,
    dialect: 'llama-server',
    body: NativeCompletionRequest,
    response: NativeCompletion,
  },
  infill: {
    name: 'llama_server_infill',
    method: 'POST',
    path: '/infill',
    computes: true,
    queued: true,
    summary: "What fits in a gap of a text, in llama-server's own shape, whole or as a stream.",
    authenticated: true,
    dialect: 'llama-server',
    body: InfillRequest,
    response: NativeCompletion,
  },
  nativeTokenize: {
    name: 'llama_server_tokenize',
    method: 'POST',
    path: '/tokenize',
    computes: true,
    summary: 'Like /v1/tokenize; `model` may be left out.',
    authenticated: true,
    dialect: 'llama-server',
    body: NativeTokenizeRequest,
    response: TokenizeResponse,
  },
  residency: {
    name: 'residency',
    method: 'GET',
    path: '/svc/residency',
    summary: 'The loaded models, as hearth ps shows them.',
    authenticated: true,
    polled: true,
    response: ResidencyList,
  },
  cacheReport: {
    name: 'cache_report',
    method: 'GET',
    path: '/svc/cache/why/:id',
    summary: 'Why the prompt of a request was evaluated and not reused, as hearth cache why shows it.',
    authenticated: true,
    response: CacheReport,
  },
  unload: {
    name: 'unload',
    method: 'POST',
    path: '/svc/unload',
    summary: 'Unloads a model once its running answers have finished.',
    authenticated: true,
    admin: 'from pages',
    body: UnloadRequest,
    response: UnloadResponse,
  },
  quit: {
    name: 'quit',
    method: 'POST',
    path: '/svc/quit',
    summary: 'Ends the service for the user that runs it, as hearth quit does; running answers may finish.',
    authenticated: true,
    admin: 'of owner',
    body: QuitRequest,
    response: QuitResponse,
  },
  engine: {
    name: 'engine',
    method: 'GET',
    path: '/svc/engine',
    summary: 'What the engine does now: models, slots, jobs, memory. It has no text of any request.',
    authenticated: true,
    polled: true,
    response: EngineState,
  },
  events: {
    name: 'events',
    method: 'GET',
    path: '/svc/events',
    summary:
      'The same as server-sent events: `snapshot` is the whole, each `update` a JSON merge patch (RFC 7396); Last-Event-ID resumes.',
    authenticated: true,
    polled: true,
    response: EngineState,
  },
  requests: {
    name: 'requests',
    method: 'GET',
    path: '/svc/requests',
    summary: 'The last requests with their stages, from memory; no text.',
    authenticated: true,
    admin: 'of keys',
    polled: true,
    query: RequestQuery,
    response: RequestList,
  },
  request: {
    name: 'request',
    method: 'GET',
    path: '/svc/requests/:id',
    summary: 'One of them, by its number or request id; with its text where SVC_RECORD=text keeps it.',
    authenticated: true,
    admin: 'of keys',
    polled: true,
    response: RequestDetail,
  },
  requestArchive: {
    name: 'request_archive',
    method: 'GET',
    path: '/svc/requests.har',
    summary: 'All of them as an HTTP archive (HAR 1.2).',
    authenticated: true,
    admin: 'of keys',
    polled: true,
    hidden: true,
  },
  library: {
    name: 'library',
    method: 'GET',
    path: '/svc/models',
    summary: 'Everything that is installed, with its settings, and the defaults.',
    authenticated: true,
    polled: true,
    response: Library,
  },
  foreignModels: {
    name: 'foreign_models',
    method: 'GET',
    path: '/svc/models/foreign',
    summary: 'Models of other programs on this machine, for the user that runs the service.',
    authenticated: true,
    admin: 'of owner',
    response: ForeignModels,
  },
  quants: {
    name: 'quants',
    method: 'GET',
    path: '/svc/models/quants',
    summary: 'The quants of a repository on the hub, and which of them fit this machine.',
    authenticated: true,
    admin: 'always',
    query: QuantsQuery,
    response: Quants,
  },
  searchModels: {
    name: 'search_models',
    method: 'GET',
    path: '/svc/models/search',
    summary: 'Repositories of the hub with models that can be pulled, those downloaded most first.',
    authenticated: true,
    admin: 'always',
    query: SearchQuery,
    response: FoundModels,
  },
  loadPlan: {
    name: 'load_plan',
    method: 'GET',
    path: '/svc/models/plan',
    summary: 'What a request for a model would find: memory, slots, and what would be unloaded for it.',
    authenticated: true,
    query: PlanQuery,
    response: LoadPlan,
  },
  pullModel: {
    name: 'pull_model',
    method: 'POST',
    path: '/svc/models/pull',
    summary: 'Fetches a model as hearth pull does; server-sent events progress, then success or error.',
    authenticated: true,
    admin: 'always',
    body: PullRequest,
    response: Changed,
  },
  importModel: {
    name: 'import_model',
    method: 'POST',
    path: '/svc/models/import',
    summary:
      'Installs a file of this machine, or a model of another program, for the user that runs the service; events as for pull.',
    authenticated: true,
    admin: 'of owner',
    body: ImportRequest,
    response: Changed,
  },
  verifyModel: {
    name: 'verify_model',
    method: 'POST',
    path: '/svc/models/verify',
    summary: 'Reads every byte of a model again; events as for pull.',
    authenticated: true,
    admin: 'always',
    body: NamedModel,
    response: Changed,
  },
  removeModel: {
    name: 'remove_model',
    method: 'POST',
    path: '/svc/models/remove',
    summary: 'Removes a model or an alias, as hearth rm does.',
    authenticated: true,
    admin: 'always',
    body: NamedModel,
    response: Changed,
  },
  restoreModel: {
    name: 'restore_model',
    method: 'POST',
    path: '/svc/models/restore',
    summary: 'Brings back a built-in model that was removed, as hearth restore does.',
    authenticated: true,
    admin: 'always',
    body: RestoreRequest,
    response: Changed,
  },
  defaultModel: {
    name: 'default_model',
    method: 'POST',
    path: '/svc/models/default',
    summary: 'Makes a model the default of its kind.',
    authenticated: true,
    admin: 'always',
    body: NamedModel,
    response: Changed,
  },
  aliasModel: {
    name: 'alias_model',
    method: 'POST',
    path: '/svc/models/alias',
    summary: 'Lets a further name mean a model.',
    authenticated: true,
    admin: 'always',
    body: AliasRequest,
    response: Changed,
  },
  setModel: {
    name: 'set_model',
    method: 'POST',
    path: '/svc/models/settings',
    summary: 'Sets defaults of a model, as hearth set does.',
    authenticated: true,
    admin: 'always',
    body: SettingsRequest,
    response: Changed,
  },
  keyUses: {
    name: 'keys',
    method: 'GET',
    path: '/svc/keys',
    summary: 'What the holders of named API keys use; never a key.',
    authenticated: true,
    admin: 'of keys',
    polled: true,
    response: KeyUses,
  },
  pageToken: {
    name: 'page_token',
    method: 'POST',
    path: '/svc/page-token',
    summary:
      'Gives the page of this service, and no other, the token for its changes, if the user that runs the service uses it.',
    authenticated: true,
    response: PageToken,
  },
  ollamaVersion: {
    name: 'ollama_version',
    method: 'GET',
    path: '/api/version',
    summary: "The version of Ollama's API that is served.",
    authenticated: true,
    dialect: 'ollama',
    response: OllamaVersion,
  },
  ollamaTags: {
    name: 'ollama_tags',
    method: 'GET',
    path: '/api/tags',
    summary: "Installed models, in Ollama's shape.",
    authenticated: true,
    dialect: 'ollama',
    response: OllamaTags,
  },
  ollamaPs: {
    name: 'ollama_ps',
    method: 'GET',
    path: '/api/ps',
    summary: "Loaded models, in Ollama's shape.",
    authenticated: true,
    dialect: 'ollama',
    response: OllamaPs,
  },
  ollamaShow: {
    name: 'ollama_show',
    method: 'POST',
    path: '/api/show',
    summary: "One installed model, in Ollama's shape.",
    authenticated: true,
    dialect: 'ollama',
    body: OllamaShowRequest,
    response: OllamaShow,
  },
  ollamaChat: {
    name: 'ollama_chat',
    method: 'POST',
    path: '/api/chat',
    computes: true,
    queued: true,
    summary: "A chat answer in Ollama's dialect, as lines of JSON or whole.",
    authenticated: true,
    dialect: 'ollama',
    body: OllamaChatRequest,
    response: OllamaChatAnswer,
  },
  ollamaGenerate: {
    name: 'ollama_generate',
    method: 'POST',
    path: '/api/generate',
    computes: true,
    queued: true,
    summary: "An answer to one prompt in Ollama's dialect, as lines of JSON or whole.",
    authenticated: true,
    dialect: 'ollama',
    body: OllamaGenerateRequest,
    response: OllamaGenerateAnswer,
  },
  ollamaEmbed: {
    name: 'ollama_embed',
    method: 'POST',
    path: '/api/embed',
    computes: true,
    summary: "Vectors of texts in Ollama's dialect, as wide as the model makes them.",
    authenticated: true,
    dialect: 'ollama',
    body: OllamaEmbedRequest,
    response: OllamaEmbedAnswer,
  },
  ollamaEmbeddings: {
    name: 'ollama_embeddings',
    method: 'POST',
    path: '/api/embeddings',
    computes: true,
    summary: 'The vector of one text, as older clients of Ollama ask for it.',
    authenticated: true,
    dialect: 'ollama',
    body: OllamaEmbeddingsRequest,
    response: OllamaEmbeddingsAnswer,
  },
  ollamaPull: {
    name: 'ollama_pull',
    method: 'POST',
    path: '/api/pull',
    summary: "Fetches a model as hearth pull does, in Ollama's dialect.",
    authenticated: true,
    dialect: 'ollama',
    admin: 'always',
    body: OllamaPullRequest,
    response: OllamaStatus,
  },
  ollamaDelete: {
    name: 'ollama_delete',
    method: 'DELETE',
    path: '/api/delete',
    summary: "Removes a model or an alias as hearth rm does, in Ollama's dialect.",
    authenticated: true,
    dialect: 'ollama',
    admin: 'always',
    body: OllamaShowRequest,
    response: OllamaStatus,
  },
  ollamaCopy: {
    name: 'ollama_copy',
    method: 'POST',
    path: '/api/copy',
    summary: "Lets a further name mean a model, in Ollama's dialect.",
    authenticated: true,
    dialect: 'ollama',
    admin: 'always',
    body: OllamaCopyRequest,
    response: OllamaStatus,
  },
  openApi: {
    name: 'open_api',
    method: 'GET',
    path: '/openapi.json',
    summary: 'The OpenAPI document of this service.',
    authenticated: true,
    hidden: true,
  },
  metrics: {
    name: 'metrics',
    method: 'GET',
    path: '/metrics',
    summary: 'Figures in the Prometheus text format.',
    authenticated: true,
    polled: true,
    hidden: true,
  },
  home: {
    name: 'home',
    method: 'GET',
    path: '/',
    summary: 'Where to read on; a browser is led to the page.',
    authenticated: true,
    forBrowsers: true,
    hidden: true,
  },
  pageRoot: {
    name: 'page_root',
    method: 'GET',
    path: '/ui',
    summary: 'The page, as people type it.',
    authenticated: false,
    polled: true,
    forBrowsers: true,
    hidden: true,
  },
  page: {
    name: 'page',
    method: 'GET',
    path: '/ui/*',
    summary: 'The page: files that hold nothing of the user, so that it can ask for the key.',
    authenticated: false,
    polled: true,
    forBrowsers: true,
    hidden: true,
  },
} as const satisfies Record<string, Route>;

/** Identity.endpoints: the names of the interface, and what is served besides; each with its path. */
export const endpoints: Readonly<Record<string, string>> = Object.fromEntries(
  (
    [
      'identity',
      'models',
      'chatCompletions',
      'completions',
      'embeddings',
      'messages',
      'countTokens',
      'responses',
      'inputTokens',
      'files',
      'batches',
      'tokenize',
      'detokenize',
      'rerank',
      'decisions',
    ] as const
  ).map((key) => [routes[key].name, routes[key].path]),
);
