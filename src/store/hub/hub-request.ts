/**
 * One GET to a hub. Redirects are followed by hand: each hop is checked, and credentials go to the configured origin
 * only. Uses node:http(s), because fetch allows no own lookup and decompresses bodies. Responses other than 2xx
 * become errors here.
 */
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { Duplex } from 'node:stream';
import { fail, isFailure, isSvcError, errorMessage } from '../../lib/errors/svc-error.ts';
import { parseAnswerInTurns } from '../../lib/json/parse-json-in-turns.ts';
import { errnoCode } from '../../lib/files/durable.ts';
import { checkHop, guardedLookup, type HopPolicy, shownUrl } from './address-guard.ts';

export interface HubAccess extends HopPolicy {
  readonly token: string | null;
  readonly stallMs: number;
  readonly userAgent: string;
  /**
   * Opens a socket another way; null or absent: the usual way. Its address cannot be checked, so it is only for bytes
   * whose hash is known beforehand.
   */
  readonly connect?: (url: URL, signal: AbortSignal | undefined) => Promise<Duplex | null>;
}

export interface HubRequest {
  readonly url: URL;
  readonly what: string;
  readonly repo: string;
  readonly range?: string;
  readonly signal?: AbortSignal;
}

const MAX_HOPS = 5;
const REDIRECTS = [301, 302, 303, 307, 308];

/** Status 200, 206 or 416. The body must be consumed or destroyed. */
export async function requestHub(access: HubAccess, wanted: HubRequest): Promise<IncomingMessage> {
  let url = wanted.url;
  for (let hop = 0; hop <= MAX_HOPS; hop += 1) {
    checkHop(access, url);
    const answer = await sendOnce(access, wanted, url, await connectTo(access, url, wanted.signal));
    const status = answer.statusCode ?? 0;
    if (status === 200 || status === 206 || status === 416) return checkEncoding(access, answer);
    answer.destroy();
    if (!REDIRECTS.includes(status)) throw toFailure(access, wanted, url, answer);
    url = nextHop(url, answer);
  }
  throw fail('hub_refused', {
    url: shownUrl(wanted.url),
    reason: `it redirects more than ${MAX_HOPS} times`,
  });
}

export interface HubAnswer {
  readonly value: unknown;
  readonly text: string;
  readonly link: string | null;
}

/** Stops reading as soon as the limit is exceeded. */
export async function requestJson(access: HubAccess, wanted: HubRequest): Promise<HubAnswer> {
  const answer = await requestHub(access, wanted);
  const parts: Buffer[] = [];
  let size = 0;
  try {
    for await (const part of answer as AsyncIterable<Buffer>) {
      size += part.length;
      if (size > MAX_JSON_BYTES) throw invalid(access, `a listing of more than ${MAX_JSON_BYTES} bytes`);
      parts.push(part);
    }
  } catch (error) {
    throw translate(access, error);
  } finally {
    answer.destroy();
  }
  const { link } = answer.headers;
  const bytes = Buffer.concat(parts);
  const value = await parseAnswerInTurns(bytes, JSON_LIMITS).catch((error: unknown) => {
    if (!isFailure(error, 'invalid_json')) throw error;
    throw invalid(access, `something that is not usable as JSON: ${error.detail.reason}`);
  });
  return { value, text: bytes.toString('utf8'), link: typeof link === 'string' ? link : null };
}

/** A page of a listing has a thousand files of about 500 bytes and 12 values each. */
const MAX_JSON_BYTES = 4 * 1024 * 1024;
const JSON_LIMITS = { depth: 32, tokens: 100_000 };

async function connectTo(
  access: HubAccess,
  url: URL,
  signal: AbortSignal | undefined,
): Promise<Duplex | null> {
  try {
    return (await access.connect?.(url, signal)) ?? null;
  } catch (error) {
    throw translate(access, error);
  }
}

function sendOnce(
  access: HubAccess,
  wanted: HubRequest,
  url: URL,
  socket: Duplex | null,
): Promise<IncomingMessage> {
  const send = url.protocol === 'https:' ? requestHttps : requestHttp;
  const isHub = url.origin === access.endpoint.origin;
  return new Promise((resolve, reject) => {
    let answer: IncomingMessage | undefined;
    const request = send(
      url,
      {
        method: 'GET',
        lookup: guardedLookup(access, url),
        // One connection per request, so that bytes of one hop in a kept-alive socket cannot reach the next.
        ...(socket === null ? { agent: false } : { createConnection: () => socket }),
        timeout: access.stallMs,
        headers: {
          'user-agent': access.userAgent,
          accept: '*/*',
          'accept-encoding': 'identity',
          ...(wanted.range === undefined ? {} : { range: wanted.range }),
          ...(isHub && access.token !== null ? { authorization: `Bearer ${access.token}` } : {}),
        },
        ...(wanted.signal ? { signal: wanted.signal } : {}),
      },
      (response) => {
        answer = response;
        resolve(response);
      },
    );
    // The timeout counts silence, before the headers and between pieces of the body.
    request.on('timeout', () => (answer ?? request).destroy(stalled(access)));
    request.on('error', (error) => reject(translate(access, error)));
    request.end();
  });
}

function nextHop(url: URL, answer: IncomingMessage): URL {
  const { location } = answer.headers;
  try {
    return new URL(location ?? '', url);
  } catch (error) {
    throw fail('hub_refused', { url: shownUrl(url), reason: 'it redirects to an invalid URL' }, error);
  }
}

function checkEncoding(access: HubAccess, answer: IncomingMessage): IncomingMessage {
  const encoding = answer.headers['content-encoding'];
  if (encoding === undefined || encoding === 'identity') return answer;
  answer.destroy();
  throw invalid(access, `a body in the encoding ${encoding}, which was not asked for`);
}

function toFailure(access: HubAccess, wanted: HubRequest, url: URL, answer: IncomingMessage): Error {
  const status = answer.statusCode ?? 0;
  const code = String(answer.headers['x-error-code'] ?? '');
  const endpoint = access.endpoint.origin;
  const detail = { endpoint, repo: wanted.repo, param: wanted.repo, url: `${endpoint}/${wanted.repo}` };
  if (status === 429) return fail('hub_rate_limited', { ...detail, retryAfterS: waitSeconds(answer) });
  if (status >= 500 || status === 408)
    return fail('hub_unreachable', { ...detail, reason: `status ${status}` });
  // The CDN's signed link has expired; the next try gets a fresh one from the hub.
  if (
    url.origin !== access.endpoint.origin &&
    (status === 401 || status === 403 || status === 404 || status === 410)
  )
    return fail('hub_unreachable', { ...detail, reason: `its download link answered ${status}` });
  if (code === 'GatedRepo') return fail('hub_gated', detail);
  if (code === 'RepoNotFound' || code === 'EntryNotFound' || code === 'RevisionNotFound' || status === 404) {
    return fail('hub_not_found', {
      ...detail,
      what: code === 'RepoNotFound' ? `repository ${wanted.repo}` : wanted.what,
    });
  }
  if (status === 401 || status === 403)
    return fail('hub_unauthorized', { ...detail, reason: `status ${status}` });
  return invalid(access, `status ${status}`);
}

/** Reads `Retry-After: 12`, a date, or `RateLimit: "api";r=0;t=12`. */
function waitSeconds(answer: IncomingMessage): number {
  const header = answer.headers['retry-after'];
  const seconds = Number(header ?? /\bt=(\d+)/.exec(String(answer.headers['ratelimit'] ?? ''))?.[1]);
  if (Number.isFinite(seconds) && seconds >= 0) return Math.ceil(seconds);
  const until = Date.parse(header ?? '') - Date.now();
  return Number.isFinite(until) ? Math.max(0, Math.ceil(until / 1000)) : DEFAULT_WAIT_S;
}

const DEFAULT_WAIT_S = 30;

export function invalid(access: HopPolicy, reason: string): Error {
  return fail('hub_invalid', { endpoint: access.endpoint.origin, reason });
}

function stalled(access: HubAccess): Error {
  return fail('hub_unreachable', {
    endpoint: access.endpoint.origin,
    reason: `nothing arrived for ${Math.round(access.stallMs / 1000)} s`,
  });
}

export function translate(access: HopPolicy, error: unknown): unknown {
  if (isSvcError(error)) return error;
  if (error instanceof Error && error.name === 'AbortError') return error;
  const reason = errnoCode(error) ?? errorMessage(error);
  if (/CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ALTNAME/.test(reason)) {
    return fail(
      'hub_refused',
      { url: access.endpoint.origin, reason: `its certificate is not valid (${reason})` },
      error,
    );
  }
  return fail('hub_unreachable', { endpoint: access.endpoint.origin, reason }, error);
}
