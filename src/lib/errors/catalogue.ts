/**
 * Every failure that Hearth names: code → family, whether a repeat can succeed, and the sentence for people.
 * It knows no HTTP statuses and no wire shapes (http/error-response.ts does); everybody may call it.
 * A message names the thing, the cause and the remedy in one plain sentence.
 */

/** What a code is about; http/error-response.ts maps a family to a status. */
export type Family =
  | 'request'
  | 'not_found'
  | 'method'
  | 'too_large'
  | 'media_type'
  | 'headers'
  | 'expectation'
  | 'timeout'
  | 'auth'
  | 'forbidden'
  | 'busy'
  | 'unavailable'
  | 'engine'
  | 'store'
  | 'cancelled'
  | 'bug';

export interface ErrorDetail {
  /** The request field, model id, path or key that the failure is about. */
  readonly param?: string;
  /** Seconds after which a repeat makes sense; only for families busy and unavailable. */
  readonly retryAfterS?: number;
  readonly [key: string]: unknown;
}

interface Entry {
  readonly family: Family;
  /** False: the same request would fail again, so clients are told not to retry. */
  readonly retryable: boolean;
  readonly message: (d: ErrorDetail) => string;
}

const s = (value: unknown): string => String(value);

/** `maxCtx` is the largest window of the model, where it is known. */
function overflowRemedy(d: ErrorDetail): string {
  const { maxCtx, promptTokens } = d;
  return typeof maxCtx === 'number' && Number(promptTokens) >= maxCtx
    ? `Shorten the prompt; the model takes at most ${maxCtx}.`
    : 'Shorten the prompt or raise num_ctx.';
}

/** Only owner/name, perhaps with a quant, is a name that could be pulled. */
function installRemedy(model: string): string {
  if (model === 'feature-hash-768') return 'set SVC_ALLOW_HASH_EMBEDDINGS=1 to allow it';
  return /^[\w.-]+\/[\w.-]+(?::[\w.-]+)?$/.test(model)
    ? `run: hearth pull ${model}, or choose one from GET /v1/models`
    : 'choose one from GET /v1/models, or install one with: hearth pull owner/name';
}

export const catalogue = {
  // The request itself.
  invalid_request: { family: 'request', retryable: false, message: (d) => s(d['message']) },
  invalid_json: {
    family: 'request',
    retryable: false,
    message: (d) => `The body is not usable JSON: ${s(d['reason'])}.`,
  },
  unsupported_value: { family: 'request', retryable: false, message: (d) => s(d['message']) },
  wrong_model_kind: {
    family: 'request',
    retryable: false,
    message: (d) =>
      `Model "${s(d['model'])}" is a${d['kind'] === 'embedding' ? 'n' : ''} ${s(d['kind'])} model and cannot serve ${s(d['use'])}; choose a ${s(d['wanted'])} model from GET /v1/models.`,
  },
  context_overflow: {
    family: 'request',
    retryable: false,
    message: (d) =>
      `The prompt is ${d['atLeast'] === true ? 'at least ' : ''}${s(d['promptTokens'])} tokens; the context window is ${s(d['numCtx'])} tokens (num_ctx). ${overflowRemedy(d)}`,
  },
  input_too_long: {
    family: 'request',
    retryable: false,
    message: (d) =>
      `input[${s(d['index'])}] is ${s(d['tokens'])} tokens; the model takes at most ${s(d['limit'])}. Split it, or send "truncate": true to have it cut.`,
  },
  model_not_found: {
    family: 'not_found',
    retryable: false,
    message: (d) => `Model "${s(d['model'])}" is not installed; ${installRemedy(s(d['model']))}.`,
  },
  no_default_model: {
    family: 'not_found',
    retryable: false,
    message: (d) =>
      `No default ${s(d['kind'])} model is installed; run: hearth pull or hearth import, or set ${s(d['setting'])}.`,
  },
  route_not_found: {
    family: 'not_found',
    retryable: false,
    message: (d) =>
      `There is no route ${s(d['method'])} ${s(d['path'])}; the routes are listed at GET /v1/identity and /openapi.json.`,
  },
  method_not_allowed: {
    family: 'method',
    retryable: false,
    message: (d) => `${s(d['path'])} does not answer ${s(d['method'])}; use ${s(d['allow'])}.`,
  },
  body_too_large: {
    family: 'too_large',
    retryable: false,
    message: (d) => `The body is larger than ${s(d['limitBytes'])} bytes; send less.`,
  },
  unsupported_media_type: {
    family: 'media_type',
    retryable: false,
    message: () => 'The body must be JSON; send Content-Type: application/json.',
  },
  request_timeout: {
    family: 'timeout',
    retryable: false,
    message: () => 'The request did not arrive in time; send all of it at once.',
  },
  headers_too_large: {
    family: 'headers',
    retryable: false,
    message: () => 'The headers of the request are too large; send fewer or shorter ones.',
  },
  unknown_expectation: {
    family: 'expectation',
    retryable: false,
    message: () => 'Only Expect: 100-continue is understood; leave the header out.',
  },
  bad_request: {
    family: 'request',
    retryable: false,
    message: () =>
      'The bytes received are not a usable HTTP/1.1 request; check the client or proxy in between.',
  },
  // Access.
  unauthorized: {
    family: 'auth',
    retryable: false,
    message: () => 'An API key is required; send Authorization: Bearer <key> with the value of SVC_API_KEY.',
  },
  forbidden_host: {
    family: 'forbidden',
    retryable: false,
    message: (d) =>
      `The Host header ${JSON.stringify(s(d['host']))} is not allowed; use 127.0.0.1 or localhost, or add it to SVC_ALLOWED_HOSTS.`,
  },
  forbidden_origin: {
    family: 'forbidden',
    retryable: false,
    message: (d) =>
      `The Origin ${JSON.stringify(s(d['origin']))} is not allowed; add it to SVC_ALLOWED_ORIGINS.`,
  },
  // Capacity.
  queue_full: {
    family: 'busy',
    retryable: true,
    message: (d) =>
      `The queue is full (${s(d['limit'])} requests waiting); try again in ${s(d['retryAfterS'])} s.`,
  },
  draining: {
    family: 'unavailable',
    retryable: true,
    message: () => 'The service is shutting down; try again when it is back.',
  },
  native_unavailable: {
    family: 'unavailable',
    retryable: false,
    message: (d) =>
      `No native backend is bound (${s(d['reason'])}); reinstall with: npm ci, then restart hearth serve.`,
  },
  out_of_memory: {
    family: 'unavailable',
    retryable: false,
    message: (d) =>
      d['needBytes'] === undefined
        ? `Too little memory is free for model "${s(d['model'])}" (${s(d['reason'])}); use a smaller model or a smaller num_ctx.`
        : `Model "${s(d['model'])}" needs about ${s(d['needBytes'])} bytes but ${s(d['freeBytes'])} are available; use a smaller model or a smaller num_ctx.`,
  },
  // The engine.
  load_failed: {
    family: 'unavailable',
    retryable: false,
    message: (d) => `Model "${s(d['model'])}" could not be loaded: ${s(d['reason'])}.`,
  },
  model_quarantined: {
    family: 'unavailable',
    retryable: false,
    message: (d) =>
      `Model "${s(d['model'])}" failed to load repeatedly (${s(d['reason'])}) and is set aside; try again in ${s(d['retryAfterS'])} s or run: hearth verify ${s(d['model'])}.`,
  },
  model_damaged: {
    family: 'unavailable',
    retryable: false,
    message: (d) =>
      `Model "${s(d['model'])}" has changed on disk since it was installed (${s(d['reason'])}); run: hearth verify ${s(d['model'])}.`,
  },
  worker_crashed: {
    family: 'unavailable',
    retryable: true,
    message: (d) =>
      `The process that runs model "${s(d['model'])}" stopped (${s(d['reason'])}) before the answer was complete; send the request again.`,
  },
  worker_hung: {
    family: 'unavailable',
    retryable: true,
    message: (d) =>
      `The process that runs model "${s(d['model'])}" stopped answering and was ended; send the request again.`,
  },
  poison_request: {
    family: 'engine',
    retryable: false,
    message: () =>
      'This request ended the engine twice and is refused for ten minutes; change the request or the model.',
  },
  answer_invalid: {
    family: 'engine',
    retryable: true,
    message: (d) =>
      `${s(d['what'])} does not have the shape that was asked for: ${s(d['reason'])}; send the request again.`,
  },
  evidence_unavailable: {
    family: 'unavailable',
    retryable: false,
    message: (d) =>
      `This request cannot be run as frozen-v1 (${s(d['reason'])}); without the X-Svc-Evidence-Mode header it can be answered, but not proved.`,
  },
  template_failed: {
    family: 'request',
    retryable: false,
    message: (d) => `The chat template of the model refused these messages: ${s(d['reason'])}.`,
  },
  // Files and the store.
  gguf_invalid: {
    family: 'store',
    retryable: false,
    message: (d) => `"${s(d['path'])}" is not a usable GGUF model: ${s(d['reason'])}.`,
  },
  model_id_invalid: {
    family: 'request',
    retryable: false,
    message: (d) =>
      `${JSON.stringify(s(d['id']))} cannot be a model id: ${s(d['reason'])}; use lower-case letters, digits, ".", "_" and "-", at most one "/" and one ":", for example "mistral-7b:q4_k_m".`,
  },
  model_exists: {
    family: 'store',
    retryable: false,
    message: (d) =>
      `Model "${s(d['model'])}" is already installed (${s(d['reason'])}); run: hearth rm ${s(d['model'])}, or choose another id with --id.`,
  },
  manifest_damaged: {
    family: 'store',
    retryable: false,
    message: (d) =>
      `The manifest of model "${s(d['model'])}" is damaged (${s(d['reason'])}); run: hearth rm ${s(d['model'])}, then install the model again.`,
  },
  file_unusable: {
    family: 'store',
    retryable: false,
    message: (d) => `${JSON.stringify(s(d['path']))} cannot be used as a model: ${s(d['reason'])}.`,
  },
  file_not_found: {
    family: 'not_found',
    retryable: false,
    message: (d) => `There is no file ${JSON.stringify(s(d['path']))}; check the path.`,
  },
  embedding_width: {
    family: 'store',
    retryable: false,
    message: (d) =>
      `${JSON.stringify(s(d['path']))} makes vectors of ${s(d['width'])} numbers; the service answers with 768, so choose an embedding model of that width.`,
  },
  digest_mismatch: {
    family: 'store',
    retryable: false,
    message: (d) =>
      `${JSON.stringify(s(d['path']))} has SHA-256 ${s(d['actual'])} where ${s(d['expected'])} was expected; the bytes are refused, fetch them again.`,
  },
  store_busy: {
    family: 'busy',
    retryable: true,
    message: (d) =>
      `${s(d['what'])} is in use by another process (${s(d['holder'])}); wait until it is done, or end it, and try again.`,
  },
  store_unwritable: {
    family: 'store',
    retryable: false,
    message: (d) =>
      `${JSON.stringify(s(d['path']))} cannot be written (${s(d['reason'])}); check its owner and permissions, or set SVC_HOME to a folder of your own.`,
  },
  store_unreadable: {
    family: 'store',
    retryable: false,
    message: (d) =>
      `${JSON.stringify(s(d['path']))} is not readable by this user (${s(d['reason'])}); ${s(d['remedy'])}.`,
  },
  disk_full: {
    family: 'store',
    retryable: false,
    message: (d) =>
      `There is not enough room for ${JSON.stringify(s(d['path']))} (${s(d['reason'])}); free some space and run the command again.`,
  },
  instance_unusable: {
    family: 'store',
    retryable: false,
    message: (d) =>
      `${JSON.stringify(s(d['path']))} ${s(d['reason'])}; restore it from a backup, or remove the whole folder ${JSON.stringify(s(d['folder']))} to become a new instance.`,
  },
  // Pulling from a hub.
  reference_invalid: {
    family: 'request',
    retryable: false,
    message: (d) =>
      `${JSON.stringify(s(d['ref']))} is not a model reference: ${s(d['reason'])}; write hf:user/repo, user/repo:QUANT, or the URL of a .gguf file.`,
  },
  quant_not_found: {
    family: 'not_found',
    retryable: false,
    message: (d) => `${s(d['repo'])} has no GGUF ${s(d['wanted'])}; available: ${s(d['choices'])}.`,
  },
  hub_offline: {
    family: 'unavailable',
    retryable: false,
    message: () => 'Offline mode is set (HF_HUB_OFFLINE); unset it to pull, or use: hearth import FILE.',
  },
  hub_unreachable: {
    family: 'unavailable',
    retryable: true,
    message: (d) =>
      `The hub ${s(d['endpoint'])} could not be reached (${s(d['reason'])}); check the network and run the command again, it resumes.`,
  },
  hub_not_found: {
    family: 'not_found',
    retryable: false,
    message: (d) =>
      `${s(d['endpoint'])} has no ${s(d['what'])} that this user may see; check the spelling, or set HF_TOKEN if it is private.`,
  },
  hub_gated: {
    family: 'store',
    retryable: false,
    message: (d) =>
      `${s(d['repo'])} is gated: accept its terms at ${s(d['url'])}, then run the command again with HF_TOKEN set.`,
  },
  hub_unauthorized: {
    family: 'store',
    retryable: false,
    message: (d) =>
      `${s(d['endpoint'])} refused access to ${s(d['repo'])} (${s(d['reason'])}); set a valid token in HF_TOKEN or with --token-file.`,
  },
  hub_rate_limited: {
    family: 'busy',
    retryable: true,
    message: (d) =>
      `${s(d['endpoint'])} limits the rate of requests; try again in ${s(d['retryAfterS'])} s, or set HF_TOKEN for a higher limit.`,
  },
  hub_refused: {
    family: 'store',
    retryable: false,
    message: (d) =>
      `A request to ${JSON.stringify(s(d['url']))} was refused by Hearth (${s(d['reason'])}); set HF_ENDPOINT or SVC_HUB_HOSTS only if you trust that host.`,
  },
  hub_invalid: {
    family: 'store',
    retryable: false,
    message: (d) =>
      `${s(d['endpoint'])} sent something unusable (${s(d['reason'])}); nothing was installed, try again later or another source.`,
  },
  // Nobody's fault, or ours.
  cancelled: {
    family: 'cancelled',
    retryable: true,
    message: () => 'The request was cancelled by the client.',
  },
  internal: {
    family: 'bug',
    retryable: false,
    message: () => 'Hearth failed in a way it should not have; the log has the details.',
  },
} as const satisfies Record<string, Entry>;

export type ErrorCode = keyof typeof catalogue;

/** The catalogue entry of a code, widened so that callers can treat all entries alike. */
export function entryOf(code: ErrorCode): Entry {
  return catalogue[code];
}
