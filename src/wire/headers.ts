/** Header names of the interface and of Hearth's additions, as they are spelled on the wire; nowhere else are they written. */

/** Headers that a response may carry; a browser of an allowed origin may read them. */
export const HEADERS = {
  instanceId: 'X-Svc-Instance-Id',
  bootId: 'X-Svc-Boot-Id',
  evidenceMode: 'X-Svc-Evidence-Mode',
  evidenceDigest: 'X-Svc-Evidence-Digest',
  embedBackend: 'X-Svc-Embed-Backend',
  /** `rank`: a model that ranks made the scores; else the kind of vectors that were compared. */
  rerankBackend: 'X-Svc-Rerank-Backend',
  embeddingSpace: 'X-Svc-Embedding-Space',
  numCtx: 'X-Svc-Num-Ctx',
  ignoredParams: 'X-Svc-Ignored-Params',
  /** `stand-in` if a model without a chat template answered a chat. */
  chatTemplate: 'X-Svc-Chat-Template',
  /** Keywords of schemas that no grammar enforces: `tool#/pointer/keyword`, `#/…` for the answer's own schema. */
  relaxed: 'X-Svc-Relaxed',
  /** Keywords, named in the same way, of which the answer can have some values only. */
  narrowed: 'X-Svc-Narrowed',
  /**
   * What the model reads in another way than it was sent: lines of system prompts that spoil the prompt cache
   * (`name=dropped`, `name=moved`), and turns that the chat template refuses as they are (`system=moved`, `calls=split`).
   */
  rewritten: 'X-Svc-Rewritten',
  /** A whole answer repeated itself: `nudged`, one token was chosen differently; `ended`, it was ended. */
  repetition: 'X-Svc-Repetition',
  /** Action of the call guard in a whole answer: `dropped`, `refused` or `ended`, as in `svc_call_guard`. */
  guardedCalls: 'X-Svc-Call-Guard',
  /** The conversation was made shorter: `before=12000, after=8000`, in tokens of the prompt. */
  compaction: 'X-Svc-Compaction',
  /** The model that answers in place of the requested one. */
  substitutedModel: 'X-Svc-Substituted-Model',
  /** The `code` of the body, for clients whose library keeps only the sentence. */
  errorCode: 'X-Svc-Error-Code',
  /** The upstream that answers: `name`, and in whose place: `name; instead-of="other"; because="connect"`. */
  upstream: 'X-Svc-Upstream',
  requestId: 'X-Request-Id',
  /** The request id, under the name of the Messages dialect. */
  messagesRequestId: 'Request-Id',
  shouldRetry: 'x-should-retry',
  retryAfter: 'Retry-After',
  /** RFC 9530. */
  contentDigest: 'Content-Digest',
} as const;

/** Headers that only a request carries. */
export const REQUEST_HEADERS = {
  /** `frozen-v1` asks for a signed answer; the response repeats it. */
  evidenceMode: HEADERS.evidenceMode,
  evidenceNonce: 'X-Svc-Evidence-Nonce',
  /** A program's own name, for fairness between programs on one machine. */
  clientId: 'X-Svc-Client-Id',
  apiKey: 'X-Api-Key',
  /** Anthropic's clients send it with each request. */
  anthropicVersion: 'anthropic-version',
  /** The token from POST /svc/page-token, for actions that only this service's page may do. */
  pageToken: 'X-Svc-Page-Token',
  /** `1`: no upstream on another machine may get the request. */
  localOnly: 'X-Svc-Local-Only',
  /** W3C Trace Context, passed on to upstreams. */
  traceparent: 'traceparent',
  tracestate: 'tracestate',
  /** The client's timeout, seconds, as OpenAI's libraries send it. */
  clientTimeout: 'X-Stainless-Timeout',
  /** The id of the last server-sent event that a reader got, to go on from there. */
  lastEventId: 'Last-Event-ID',
} as const;

/** Names of the conversation that a request belongs to, as routers and coding agents send them; the first one counts. */
export const SESSION_HEADERS = [
  'X-Session-Id',
  'X-Litellm-Session-Id',
  'X-Claude-Code-Session-Id',
  'Session_id',
] as const;

/** The server banner; distinct from the version (interface, Versioning 3). */
export const SERVER_BANNER = 'hearth/1.2';

/** The one value of the header for chat templates. */
export const STAND_IN_TEMPLATE = 'stand-in';

/** The one value of the evidence mode header. */
export const FROZEN_MODE = 'frozen-v1';

/** A header of a request, whose names arrive in lower case; one that was sent twice as a list counts as absent. */
export function headerValue(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  name: string,
): string | undefined {
  const value = headers[name.toLowerCase()];
  return typeof value === 'string' ? value : undefined;
}

/** Before the token in the fragment of the page's address, which no browser sends. */
export const PAGE_TOKEN_MARK = 'token=';
