/** Maps upstream failures to our errors. Upstream texts are hostile: shortened, and never with our key. */
import { fail, isSvcError, type SvcError } from '../../../lib/errors/svc-error.ts';
import { UPSTREAM_LIMITS } from './limits.ts';
import { field, readText } from './untrusted.ts';

interface Refusal {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly fields: unknown;
}

export interface Asked {
  readonly upstream: string;
  readonly model: string | null;
  /** Must never appear in a message. */
  readonly key: string | null;
}

const DEFAULT_RETRY_S = 1;
const MOST_RETRY_S = 3_600;

export function failureOfStatus(asked: Asked, { status, retryAfter, fields }: Refusal): SvcError {
  const { upstream, model, key } = asked;
  const message = readMessage(asked, fields);
  if (status >= 300 && status < 400)
    return broken(upstream, 'redirect', 'it redirects, which is not followed');
  if (status === 401 || status === 403)
    return fail('upstream_denied', { upstream, status, hasKey: key !== null });
  if (status === 404 && model !== null)
    return fail('upstream_model_gone', { upstream, model, param: 'model' });
  if (status === 429 || status === 503)
    return fail('upstream_busy', { upstream, status, retryAfterS: retrySeconds(retryAfter) });
  if (status >= 400 && status < 500)
    return readOverflow(fields) ?? fail('upstream_refused', { upstream, status, message });
  return fail('upstream_failed', { upstream, status, message });
}

export function failureInStream(asked: Asked, error: unknown): SvcError {
  const code = field(error, 'code');
  const status = typeof code === 'number' && code >= 400 && code < 600 ? code : 500;
  return failureOfStatus(asked, { status, retryAfter: undefined, fields: { error } });
}

export function unreachable(upstream: string, error: unknown): SvcError {
  if (isSvcError(error)) return error;
  return fail('upstream_unreachable', { upstream, reason: connectionReason(error) }, error);
}

type BrokenHow = 'cut' | 'rubbish' | 'content_type' | 'redirect';

export function broken(upstream: string, what: BrokenHow, reason: string): SvcError {
  return fail('upstream_broken', { upstream, what, reason });
}

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'its name is not known',
  EAI_AGAIN: 'its name cannot be looked up now',
  EHOSTUNREACH: 'there is no way to its address',
  ENETUNREACH: 'there is no way to its network',
  ECONNRESET: 'it closed the connection',
  EPIPE: 'it closed the connection',
  EPROTO: 'it does not speak TLS; perhaps its URL begins with http://',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed; name its authority with --ca',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate comes from an unknown authority; name it with --ca',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate comes from an unknown authority; name it with --ca',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its certificate comes from an unknown authority; name it with --ca',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
};

function connectionReason(error: unknown): string {
  const code = readText(field(error, 'code')) ?? '';
  if (code.startsWith('HPE_')) return 'it does not speak HTTP/1.1';
  return REASONS[code] ?? (code === '' ? 'the connection failed' : code);
}

/** llama-server sends both numbers; the messages of vLLM and other OpenAI-like servers contain them. */
function readOverflow(fields: unknown): SvcError | null {
  const error = field(fields, 'error');
  const [needed, window] = [field(error, 'n_prompt_tokens'), field(error, 'n_ctx')];
  if (isCount(needed) && isCount(window)) return overflow(needed, window);
  const text =
    readText(field(error, 'message')) ?? readText(error) ?? readText(field(fields, 'message')) ?? '';
  const hearth =
    /the prompt is (?:at least )?(\d{1,9}) tokens long and exceeds the context window of (\d{1,9})/.exec(
      text,
    );
  if (hearth !== null) return overflow(Number(hearth[1]), Number(hearth[2]));
  const length = /maximum context length is (\d{1,9})/.exec(text);
  const said =
    /(?:resulted in|prompt contains at least|contains|has|requested) (\d{1,9}) (?:input )?tokens/.exec(text);
  if (length === null) return null;
  return overflow(said === null ? Number(length[1]) + 1 : Number(said[1]), Number(length[1]));
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

const overflow = (promptTokens: number, numCtx: number): SvcError =>
  fail('context_length_exceeded', { promptTokens, numCtx, maxCtx: numCtx, param: 'messages' });

function readMessage({ key }: Asked, fields: unknown): string {
  const error = field(fields, 'error');
  const said =
    readText(field(error, 'message')) ??
    readText(error) ??
    readText(field(fields, 'message')) ??
    readText(field(fields, 'detail')) ??
    'it gives no reason';
  const clean = key === null || key === '' ? said : said.replaceAll(key, '…');
  // The surrounding sentence ends with a full stop.
  return clean
    .slice(0, UPSTREAM_LIMITS.messageChars)
    .trim()
    .replace(/[.\s]+$/, '');
}

/** Seconds or an HTTP date (RFC 9110, Retry-After). */
function retrySeconds(retryAfter: string | undefined): number {
  if (retryAfter === undefined) return DEFAULT_RETRY_S;
  const seconds = /^\d{1,9}$/.test(retryAfter)
    ? Number(retryAfter)
    : (Date.parse(retryAfter) - Date.now()) / 1000;
  if (!Number.isFinite(seconds)) return DEFAULT_RETRY_S;
  return Math.min(MOST_RETRY_S, Math.max(DEFAULT_RETRY_S, Math.ceil(seconds)));
}
