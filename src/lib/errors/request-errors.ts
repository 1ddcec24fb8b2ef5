import { builtinNamed } from './builtin-ids.ts';
import { permanent, transient, withoutStop } from './entry.ts';

interface Overflow {
  readonly promptTokens: number;
  readonly maxCtx?: number;
  readonly model?: string;
  readonly isAsked?: boolean;
}

function overflowRemedy({ promptTokens, maxCtx = Infinity, model, isAsked }: Overflow): string {
  if (promptTokens >= maxCtx) return `Shorten the prompt; the model takes at most ${maxCtx}.`;
  if (model === undefined) return 'Shorten the prompt, or send a larger num_ctx.';
  const roomy = Math.min(maxCtx, 2 ** Math.ceil(Math.log2(promptTokens * 1.5)));
  // Not `hearth set`: the request's own value overrides it, and it could shrink the window for all others.
  if (isAsked === true) return `Shorten the prompt, or send num_ctx=${roomy}, or none.`;
  return `Shorten the prompt, send a larger num_ctx, or run: hearth set ${model} num_ctx=${roomy}.`;
}

/** Names that clients of hosted services send. */
const HOSTED = /^(?:(?:chat)?gpt-|o\d|claude-|gemini-|text-embedding-)[\w.-]*$/i;

interface Missing {
  readonly model: string;
  readonly instead?: string;
}

/** Only owner/name, optionally with a quant, can be pulled. */
function installRemedy({ model, instead }: Missing): string {
  const builtin = builtinNamed(model);
  if (builtin !== null) return `it ships with Hearth, so run: hearth restore ${builtin}`;
  if (/^feature-hash-\d+$/.test(model))
    return 'it is a fallback for embeddings; to enable it, set SVC_ALLOW_HASH_EMBEDDINGS=1 and restart hearth serve';
  if (/^[\w.-]+\/[\w.-]+(?::[\w.-]+)?$/.test(model))
    return `run: hearth pull ${model}, or choose one from GET /v1/models`;
  if (HOSTED.test(model)) {
    const others = model.includes('embedding')
      ? ''
      : ', or answer all such names: SVC_UNKNOWN_MODEL_IS_DEFAULT=1';
    return `choose one from GET /v1/models, or give one this name: hearth alias ${model} MODEL${others}`;
  }
  const other = instead === undefined ? '' : `use "${instead}", `;
  return `${other}choose one from GET /v1/models, or install one with: hearth pull owner/name`;
}

const article = (noun: string): string => (/^[aeiou]/.test(noun) ? `an ${noun}` : `a ${noun}`);

interface RefusedIds {
  readonly param: string;
  readonly reason: string;
  readonly tokens: number;
  readonly token?: number;
  readonly size?: number;
  readonly model?: string;
}

/** `range`: an id outside the vocabulary. `foreign`: not its encoding of any text. `few`: too few to decide. */
function tokenIdsSentence({ param, reason, tokens, token, size, model }: RefusedIds): string {
  const owner = model === undefined ? 'the model' : `model "${model}"`;
  const text = 'send text instead (LangChain: check_embedding_ctx_length=False)';
  if (reason === 'range')
    return `${param} has the token id ${token}, but the vocabulary of ${owner} has ${size} tokens, so the ids are of another one; ${text}.`;
  const own =
    model === undefined
      ? ''
      : `, or, if they are of the model's own vocabulary, run: hearth set ${model} token_ids=own`;
  if (reason === 'few')
    return `The token ids of ${param} are only ${tokens}, too few to tell whether they are of the vocabulary of ${owner}; ${text}${own}.`;
  return `The token ids of ${param} are not how ${owner} encodes a text, so they seem to be of another vocabulary; ${text}${own}.`;
}

interface PinRefusal {
  readonly reason: string;
  readonly limitBytes?: number | undefined;
  readonly limit?: number | undefined;
}

function pinRefusal({ reason, limitBytes = 0, limit = 0 }: PinRefusal): string {
  switch (reason) {
    case 'no_cache':
      return 'it keeps no prompt cache; set SVC_CACHE_RAM or SVC_CACHE_DISK above 0 and load it again';
    case 'in_slots':
      return 'with exact=on, a model with a sliding window keeps state in its slots only; hearth set MODEL exact=off allows pins';
    case 'no_beginning':
      return 'the latest chat of your key has no system prompt and no tools of 32 tokens or more; send one that has, then pin again';
    case 'no_room':
      return `pins may hold ${Math.floor(limitBytes / 1024 ** 2)} MiB here, half of the prompt cache; remove a pin with hearth cache unpin, or raise SVC_CACHE_RAM or SVC_CACHE_DISK`;
    case 'too_many':
      return `it has ${limit} pins, and may have no more; remove one with hearth cache unpin`;
    default:
      return 'no chat of your key was answered since it was loaded; send one, then pin again';
  }
}

export const contentErrors = {
  invalid_request: permanent('request', { message: 'string', param: 'string?' }, (d) => d.message),
  invalid_json: permanent(
    'request',
    { reason: 'string', param: 'string?' },
    (d) =>
      `The body is not usable JSON: ${d.reason}; check that it is one complete JSON value in UTF-8, with each key once.`,
  ),
  unsupported_value: permanent('request', { message: 'string', param: 'string?' }, (d) => d.message),
  not_exact: permanent('request', { model: 'string', isRemote: 'boolean', param: 'string?' }, (d) =>
    d.isRemote
      ? `svc_exact cannot be kept: model "${d.model}" runs elsewhere, where its answers may depend on other requests; use an installed model, or leave svc_exact out.`
      : `svc_exact cannot be kept: model "${d.model}" is not loaded so that the same request always gets the same answer; run hearth set ${d.model} exact=on, or leave svc_exact out.`,
  ),
  wrong_model_kind: permanent(
    'request',
    { model: 'string', kind: 'string', use: 'string', wanted: 'string', param: 'string?' },
    (d) =>
      `Model "${d.model}" is ${article(d.kind)} model and cannot serve ${d.use}; choose ${article(d.wanted)} model from GET /v1/models.`,
  ),
  capability_missing: permanent(
    'request',
    { model: 'string', ability: 'string', remedy: 'string', param: 'string?' },
    (d) =>
      `Model "${d.model}" runs on an engine that cannot ${d.ability}; ${d.remedy}, or choose another model.`,
  ),
  cache_report_not_found: permanent(
    'not_found',
    { id: 'string', param: 'string?' },
    (d) =>
      `There is no cache report for request "${d.id}": it was not a chat, belongs to another API key, ran before the last start, or is too long ago. Ask soon after the request, by its X-Request-Id or number.`,
  ),
  pin_refused: permanent(
    'conflict',
    { model: 'string', reason: 'string', limitBytes: 'number?', limit: 'number?', param: 'string?' },
    (d) => `Nothing of model "${d.model}" was pinned: ${pinRefusal(d)}.`,
  ),
  pin_not_found: permanent(
    'not_found',
    { id: 'string', param: 'string?' },
    (d) => `There is no pin "${d.id}" of your key; choose one from GET /svc/cache/pins.`,
  ),
  response_not_found: permanent(
    'not_found',
    { id: 'string', param: 'string?' },
    (d) =>
      `There is no response "${d.id}": it was not stored, has expired or was deleted, or belongs to another key; send the whole conversation as input.`,
  ),
  responses_not_kept: permanent(
    'not_found',
    { param: 'string?' },
    () =>
      'No responses are kept here, because SVC_STORE_RESPONSES is 0; send the whole conversation as input.',
  ),
  file_absent: permanent(
    'not_found',
    { id: 'string', param: 'string?' },
    (d) =>
      `There is no file "${d.id}": it was deleted or has expired, or belongs to another key; GET /v1/files lists those of yours.`,
  ),
  file_in_use: permanent(
    'conflict',
    { id: 'string', batch: 'string', param: 'string?' },
    (d) => `File "${d.id}" is read by batch "${d.batch}"; cancel the batch, or wait until it is over.`,
  ),
  files_full: permanent(
    'conflict',
    { limit: 'number', limitBytes: 'number', param: 'string?' },
    (d) =>
      `No more files fit: a key may keep ${d.limit} of ${d.limitBytes} bytes together, and all keys have a bound; delete some with DELETE /v1/files.`,
  ),
  batch_not_found: permanent(
    'not_found',
    { id: 'string', param: 'string?' },
    (d) =>
      `There is no batch "${d.id}": it is too long ago, or belongs to another key; GET /v1/batches lists those of yours.`,
  ),
  batches_full: permanent(
    'conflict',
    { limit: 'number', param: 'string?' },
    (d) => `${d.limit} batches wait or run already; wait until one is over, or cancel one.`,
  ),
  batches_not_kept: permanent(
    'not_found',
    { param: 'string?' },
    () =>
      'No files and batches are kept here, because the home folder cannot be written; set SVC_HOME to one that can.',
  ),
  request_not_found: permanent(
    'not_found',
    { id: 'string', param: 'string?' },
    (d) => `Request ${d.id} is not in memory; only the latest requests since the service started are kept.`,
  ),
  thread_unsupported: permanent(
    'request',
    { param: 'string?' },
    () => 'No conversation is kept here between requests; leave thread out and send the whole conversation.',
  ),
  context_length_exceeded: permanent(
    'request',
    {
      promptTokens: 'number',
      numCtx: 'number',
      maxCtx: 'number?',
      model: 'string?',
      isAsked: 'boolean?',
      atLeast: 'boolean?',
      param: 'string?',
    },
    // Frameworks that shorten conversations search for these exact words: LangChain for the code in the sentence,
    // LiteLLM for "exceeds the available context size".
    (d) =>
      `The request exceeds the available context size (context_length_exceeded): the prompt is ${d.atLeast === true ? 'at least ' : ''}${d.promptTokens} tokens long and exceeds the context window of ${d.numCtx} tokens (num_ctx). ${overflowRemedy(d)}`,
  ),
  input_too_long: permanent(
    'request',
    { param: 'string', index: 'number', tokens: 'number', limit: 'number', withQuery: 'boolean?' },
    (d) =>
      `${d.param} is ${d.tokens} tokens long${d.withQuery === true ? ', with the query' : ''}; the model takes at most ${d.limit}. Shorten it, or send "truncate": true to have it cut.`,
  ),
  input_unreadable: permanent(
    'request',
    { param: 'string', index: 'number' },
    (d) => `${d.param} has no text that the model can read; leave it out.`,
  ),
  token_ids_refused: permanent(
    'request',
    {
      param: 'string',
      index: 'number',
      reason: 'string',
      tokens: 'number',
      token: 'number?',
      size: 'number?',
      model: 'string?',
    },
    tokenIdsSentence,
  ),
  query_too_long: permanent(
    'request',
    { tokens: 'number', limit: 'number', param: 'string?' },
    (d) =>
      `query is ${d.tokens} tokens long and leaves no room for a document; the model takes at most ${d.limit} for both. Shorten it.`,
  ),
  embedding_width: permanent(
    'request',
    { model: 'string', wanted: 'number', widths: 'string', isDefault: 'boolean?', param: 'string?' },
    (d) =>
      d.isDefault === true
        ? `Model "${d.model}" has no vectors of ${d.wanted} numbers; set dimensions to ${d.widths}, or run: hearth set ${d.model} dimensions=native.`
        : `dimensions is ${d.wanted}; for model "${d.model}" set it to ${d.widths}, or choose another model.`,
  ),
  template_failed: permanent('request', { reason: 'string', tools: 'boolean?' }, (d) =>
    d.tools === true
      ? `The model's chat template rejected these tools: ${withoutStop(d.reason)}; make the types of their parameters simpler, or choose another model.`
      : `The model's chat template rejected these messages: ${withoutStop(d.reason)}; check their roles and order, or choose another model.`,
  ),
  images_unread: permanent(
    'request',
    { model: 'string', reason: 'string', remedy: 'string', param: 'string?' },
    (d) => `Model "${d.model}" cannot read images now: ${d.reason}; ${d.remedy}.`,
  ),
  images_too_many: permanent(
    'request',
    { images: 'number', limit: 'number', param: 'string?' },
    (d) => `The request has ${d.images} images, and ${d.limit} are read; send fewer.`,
  ),
  image_unusable: permanent(
    'request',
    { image: 'number', reason: 'string', remedy: 'string?', param: 'string?' },
    (d) =>
      `Image ${d.image} of the request cannot be used: ${withoutStop(d.reason)}; ${d.remedy ?? 'send another one'}.`,
  ),
  audio_unread: permanent(
    'request',
    { model: 'string', reason: 'string', remedy: 'string', param: 'string?' },
    (d) => `Model "${d.model}" cannot hear audio now: ${d.reason}; ${d.remedy}.`,
  ),
  audio_unusable: permanent(
    'request',
    { audio: 'number', reason: 'string', remedy: 'string?', param: 'string?' },
    (d) =>
      `Audio ${d.audio} of the request cannot be used: ${withoutStop(d.reason)}; ${d.remedy ?? 'send another one'}.`,
  ),
  model_not_found: permanent(
    'not_found',
    { model: 'string', instead: 'string?', alike: 'string?', param: 'string?' },
    (d) =>
      `Model "${d.model}" is not installed; ${d.alike === undefined ? '' : `did you mean ${d.alike}? Otherwise `}${installRemedy(d)}.`,
  ),
  no_default_model: permanent(
    'not_found',
    { kind: 'string', builtin: 'string', param: 'string?' },
    (d) => `No default ${d.kind} model is installed; run: hearth restore ${d.builtin}.`,
  ),
};

export const httpErrors = {
  route_not_found: permanent(
    'not_found',
    { method: 'string', path: 'string', instead: 'string?' },
    (d) =>
      `There is no route ${d.method} ${d.path}; ${d.instead === undefined ? 'GET /v1/identity and /openapi.json list the routes' : `use ${d.instead}`}.`,
  ),
  method_not_allowed: permanent(
    'method',
    { method: 'string', path: 'string', allow: 'string' },
    (d) => `${d.path} does not support ${d.method}; use ${d.allow}.`,
  ),
  form_required: permanent(
    'media_type',
    {},
    () =>
      'A file is sent as a form: multipart/form-data with the parts purpose and file, as curl does with -F.',
  ),
  body_too_large: permanent(
    'too_large',
    { limitBytes: 'number' },
    (d) => `The body is larger than ${d.limitBytes} bytes; send a smaller one.`,
  ),
  unsupported_media_type: permanent(
    'media_type',
    {},
    () => 'The body must be JSON; send Content-Type: application/json.',
  ),
  unsupported_http_version: permanent(
    'http_version',
    {},
    () => 'This HTTP version is not spoken here; send the request as HTTP/1.1.',
  ),
  unsupported_content_encoding: permanent(
    'media_type',
    {},
    () => 'The body must not be compressed; send it without a Content-Encoding header.',
  ),
  request_timeout: permanent(
    'timeout',
    {},
    () => 'The request did not arrive in time; send it without pauses.',
  ),
  headers_too_large: permanent(
    'headers',
    {},
    () => 'The request headers are too large; send fewer or shorter ones.',
  ),
  unknown_expectation: permanent(
    'expectation',
    {},
    () => 'Expect: 100-continue is the only expectation supported; leave the header out.',
  ),
  tls_required: permanent('request', {}, () => 'This address speaks TLS; use https:// in place of http://.'),
  bad_request: permanent(
    'request',
    {},
    () => 'The bytes received are not a valid HTTP/1.1 request; check the client and any proxy in between.',
  ),
  unauthorized: permanent(
    'auth',
    { isUnknown: 'boolean?' },
    (d) =>
      `${d.isUnknown === true ? 'The API key that was sent is unknown here, or revoked' : 'An API key is required'}; send Authorization: Bearer <key> with the value of SVC_API_KEY, or a key of hearth key add.`,
  ),
  key_expired: permanent(
    'auth',
    { name: 'string', since: 'string' },
    (d) => `The API key "${d.name}" expired on ${d.since}; ask for a new one.`,
  ),
  key_rotated: permanent(
    'auth',
    { name: 'string', since: 'string' },
    (d) => `The API key "${d.name}" was rotated, and this secret ended on ${d.since}; send the new one.`,
  ),
  key_busy: transient(
    'busy',
    { name: 'string', limit: 'number' },
    (d) => `The API key "${d.name}" may run ${d.limit} requests at a time; wait until one of them has ended.`,
  ),
  /** Not retryable: a client's own retries come within seconds, long before the day has passed. */
  key_tokens_used: permanent(
    'busy',
    { name: 'string', limit: 'number', retryAfterS: 'number' },
    (d) =>
      `Of the ${d.limit} tokens that the API key "${d.name}" may use a day, too few are left for this request; send a shorter one, or try again in ${d.retryAfterS} s.`,
  ),
  key_model_refused: permanent(
    'forbidden',
    { name: 'string', model: 'string', param: 'string?' },
    (d) => `The API key "${d.name}" may not use model "${d.model}"; choose one from GET /v1/models.`,
  ),
  key_local_only: permanent(
    'forbidden',
    { name: 'string', model: 'string', param: 'string?' },
    (d) =>
      `The API key "${d.name}" may only use models of this machine, and "${d.model}" runs on another; choose another model.`,
  ),
  admin_required: permanent(
    'forbidden',
    { name: 'string' },
    (d) => `The API key "${d.name}" may not do this; use one made by hearth key add --admin, or SVC_API_KEY.`,
  ),
  page_token_required: permanent(
    'forbidden',
    {},
    () =>
      'Only the page of this service may do this, with the token that it was given; reload the page, use the hearth command, or set SVC_API_KEY and send it.',
  ),
  page_user_unproven: permanent(
    'forbidden',
    {},
    () =>
      'Nothing shows that the user of this page runs the service; open the address that `hearth page` prints, or enter an admin key.',
  ),
  owner_required: permanent(
    'forbidden',
    {},
    () =>
      'Only the user that runs the service may name its files; use hearth import, or the page at the address that `hearth page` prints.',
  ),
  page_token_refused: permanent(
    'forbidden',
    {},
    () => 'Only the page of this service gets a token; open it at /ui/ of this very address.',
  ),
  too_many_changes: transient(
    'busy',
    { limit: 'number' },
    (d) => `${d.limit} models are being fetched or checked already; wait until one of them is done.`,
  ),
  too_many_readers: transient(
    'busy',
    { limit: 'number' },
    (d) => `${d.limit} pages or terminals watch the engine already; close one of them and try again.`,
  ),
  forbidden_host: permanent(
    'forbidden',
    { host: 'string', isContainer: 'boolean?' },
    (d) =>
      `The Host header ${JSON.stringify(d.host)} is not allowed; ${d.isContainer === true ? 'set SVC_ALLOW_DOCKER_HOST=1 to let containers call' : 'use the address that the service listens at (127.0.0.1 or localhost, or that of SVC_HOST), or add this name to SVC_ALLOWED_HOSTS there'}.`,
  ),
  forbidden_origin: permanent(
    'forbidden',
    { origin: 'string', isLocal: 'boolean?' },
    (d) =>
      `The Origin ${JSON.stringify(d.origin)} is not allowed; add it to SVC_ALLOWED_ORIGINS${d.isLocal === true ? ', or set SVC_ALLOW_LOCAL_PAGES=1 for every page of this machine' : ''}.`,
  ),
  hidden_origin: permanent(
    'forbidden',
    {},
    () =>
      'A web page of another site sent this request without an Origin, so it cannot be allowed; call with fetch in its default mode (cors), or open the address directly.',
  ),
};
