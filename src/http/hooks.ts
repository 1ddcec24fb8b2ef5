/** What every request passes, in order: request id → banner and identity headers → Host and Origin → key. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { fail, type SvcError } from '../lib/errors/svc-error.ts';
import { headerNames, serverBanner } from '../wire/headers.ts';
import { type AccessFacts, type AccessRules, refuseForeign, refuseKey } from './guard/guard.ts';
import { httpLimits } from './limits.ts';

export interface HookOptions {
  readonly access: AccessRules;
  readonly instanceId: string;
  readonly bootId: string;
  readonly draining: () => boolean;
  /**
   * Settles when the service can answer; a request that comes between bind and then waits instead of failing. Only
   * /health does not: whoever finds the port taken learns from it at once by whom.
   */
  readonly opened: Promise<void>;
}

const acceptableId = /^[A-Za-z0-9._-]{1,128}$/;

/** The client's own id when it is harmless, else a fresh one. */
export function requestId(headers: Readonly<Record<string, string | string[] | undefined>>): string {
  const offered = headers['x-request-id'];
  return typeof offered === 'string' && acceptableId.test(offered) ? offered : `req_${randomUUID()}`;
}

/** Every route says who answers; the interface demands it of identity and chat, on errors and streams alike. */
export function commonHeaders(identity: Pick<HookOptions, 'instanceId' | 'bootId'>, id: string) {
  return {
    Server: serverBanner,
    [headerNames.requestId]: id,
    [headerNames.instanceId]: identity.instanceId,
    [headerNames.bootId]: identity.bootId,
  };
}

export function addHooks(app: FastifyInstance, options: HookOptions): void {
  app.addHook('onRequest', async (request, reply) => {
    if (!isHealth(request)) await options.opened;
    reply.headers(commonHeaders(options, request.id));
    // A client that keeps its connection would only find it closed.
    if (options.draining()) reply.header('Connection', 'close');
    if (request.raw.rawHeaders.length > 2 * httpLimits.maxHeaders) throw tooManyHeaders();
    const facts = accessFacts(request);
    const refusal = refuseForeign(options.access, facts) ?? keyRefusal(options.access, facts, request);
    if (refusal) throw refusal;
    // Before the body is read: whatever was sent to a path that does not exist is nobody's business.
    if (request.is404) throw noRoute(request);
  });
}

function tooManyHeaders(): SvcError {
  return fail('invalid_request', {
    message: `The request has more than ${httpLimits.maxHeaders} headers; send fewer.`,
  });
}

function noRoute(request: FastifyRequest): SvcError {
  return fail('route_not_found', {
    method: request.method,
    path: request.url.split('?')[0]?.slice(0, 200),
  });
}

/** Only /health is open: launchers and load balancers poll it without a key. A browser sends none with a preflight. */
function keyRefusal(access: AccessRules, facts: AccessFacts, request: FastifyRequest) {
  const isPreflight =
    request.method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined;
  return isPreflight || isHealth(request) ? null : refuseKey(access, facts);
}

const isHealth = (request: FastifyRequest): boolean => request.routeOptions.url === '/health';

function accessFacts(request: FastifyRequest): AccessFacts {
  const { headers } = request;
  const single = (name: string) => {
    const value = headers[name];
    return typeof value === 'string' ? value : undefined;
  };
  return {
    host: namedHost(request.raw),
    origin: headers.origin,
    fetchSite: single('sec-fetch-site'),
    authorization: headers.authorization,
    apiKeyHeader: single('x-api-key'),
  };
}

/**
 * What the request names as its host: the Host headers, and the authority of a whole URL in the request line where
 * that differs. More than one makes a list, which no rule allows; Node itself would show the first only.
 */
function namedHost({ rawHeaders, url = '' }: IncomingMessage): string {
  const hosts = rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === 'host');
  const authority = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(url)?.[1];
  return [...hosts, ...(authority === undefined || authority === hosts[0] ? [] : [authority])].join(', ');
}
