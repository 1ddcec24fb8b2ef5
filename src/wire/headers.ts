/** Spelling of all header names of the interface and of Hearth's additions; no other file contains them. */

/** Response headers, which a browser of an allowed origin may read. */
export const HEADERS = {
  instanceId: 'X-Svc-Instance-Id',
  bootId: 'X-Svc-Boot-Id',
  evidenceMode: 'X-Svc-Evidence-Mode',
  evidenceDigest: 'X-Svc-Evidence-Digest',
  embedBackend: 'X-Svc-Embed-Backend',
  /** `rank`: a ranking model made the scores; else the kind of the compared vectors. */
  rerankBackend: 'X-Svc-Rerank-Backend',
  embeddingSpace: 'X-Svc-Embedding-Space',
  numCtx: 'X-Svc-Num-Ctx',
  ignoredParams: 'X-Svc-Ignored-Params',
  /** `stand-in` if a model without a chat template answered a chat. */
  chatTemplate: 'X-Svc-Chat-Template',
  /** Schema keywords that no grammar enforces: `tool#/pointer/keyword`, `#/…` for the answer's own schema. */
  relaxed: 'X-Svc-Relaxed',
  /** Keywords in the same form of which the answer can have only some values. */
  narrowed: 'X-Svc-Narrowed',
  /**
   * Changes to the prompt: lines of system prompts that spoil the prompt cache (`name=dropped`, `name=moved`), and
   * turns that the chat template refuses unchanged (`system=moved`, `calls=split`).
   */
  rewritten: 'X-Svc-Rewritten',
  /**
   * Guard action for repetition in a complete answer: `nudged`, one token was chosen differently; `ended`, it was
   * ended.
   */
  repetition: 'X-Svc-Repetition',
  /** Action of the call guard in a complete answer: `dropped`, `refused` or `ended`, as in `svc_call_guard`. */
  guardedCalls: 'X-Svc-Call-Guard',
  /** The shortening of a conversation: `before=12000, after=8000`, in tokens of the prompt. */
  compaction: 'X-Svc-Compaction',
  substitutedModel: 'X-Svc-Substituted-Model',
  errorCode: 'X-Svc-Error-Code',
  /** The answering upstream: `name`, or after a failover `name; instead-of="other"; because="connect"`. */
  upstream: 'X-Svc-Upstream',
  requestId: 'X-Request-Id',
  messagesRequestId: 'Request-Id',
  shouldRetry: 'x-should-retry',
  retryAfter: 'Retry-After',
  /** RFC 9530. */
  contentDigest: 'Content-Digest',
} as const;

export const REQUEST_HEADERS = {
  /** `frozen-v1` requests a signed answer; the response repeats it. */
  evidenceMode: HEADERS.evidenceMode,
  evidenceNonce: 'X-Svc-Evidence-Nonce',
  clientId: 'X-Svc-Client-Id',
  apiKey: 'X-Api-Key',
  anthropicVersion: 'anthropic-version',
  /** The token from POST /svc/page-token, for actions that only this service's page may do. */
  pageToken: 'X-Svc-Page-Token',
  /** `1`: no upstream on another machine may get the request. */
  localOnly: 'X-Svc-Local-Only',
  traceparent: 'traceparent',
  tracestate: 'tracestate',
  /** The client's timeout, seconds, as OpenAI's libraries send it. */
  clientTimeout: 'X-Stainless-Timeout',
  /** Id of the last server-sent event that the reader received, to continue after it. */
  lastEventId: 'Last-Event-ID',
} as const;

export const SESSION_HEADERS = [
  'X-Session-Id',
  'X-Litellm-Session-Id',
  'X-Claude-Code-Session-Id',
  'Session_id',
] as const;

/** The server banner; distinct from the version (interface, Versioning 3). */
export const SERVER_BANNER = 'hearth/1.2';

export const STAND_IN_TEMPLATE = 'stand-in';

export const FROZEN_MODE = 'frozen-v1';

/** A value that arrives as a list counts as absent. */
export function headerValue(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  name: string,
): string | undefined {
  const value = headers[name.toLowerCase()];
  return typeof value === 'string' ? value : undefined;
}

/** Precedes the token in the fragment of the page's address, which no browser sends. */
export const PAGE_TOKEN_MARK = 'token=';
