/** The checks of every request, in order: request id → banner and identity headers → Host and Origin → key. */
import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { fail, type SvcError } from '../../lib/errors/svc-error.ts';
import { HEADERS, headerValue, REQUEST_HEADERS, SERVER_BANNER } from '../../wire/headers.ts';
import { OLLAMA_INSTEAD } from '../../wire/ollama/models.ts';
import { type RouteAccess, routes, type Route } from '../../wire/routes.ts';
import type { UseCases } from '../api/use-cases.ts';
import { clientKey } from './client-key.ts';
import {
  readAccessFacts,
  type AccessFacts,
  type Accepted,
  type AccessRules,
  type AdminRules,
  type Asker,
  type FreshKeys,
  refuseAdmin,
  refuseForeign,
  whoAsks,
} from './guard/guard.ts';
import type { KeyHolder } from '../api/access/key-holder.ts';
import type { OpenRequest } from '../api/access/open-request.ts';
import { framingFor } from './framing.ts';
import { HTTP_LIMITS } from './limits.ts';
import { PAGE_ADDRESS, wantsPage } from './page.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    readonly access?: RouteAccess;
    /** On the route that refuses all other methods of a path: those that it has. */
    readonly allow?: string;
  }
}

export interface ProcessNames {
  readonly instanceId: string;
  readonly bootId: string;
}

export interface HookOptions {
  readonly access: AccessRules;
  readonly process: ProcessNames;
  readonly pageToken: string;
  readonly keys: FreshKeys;
  readonly isDraining: () => boolean;
  /**
   * Settles when the service is ready. Requests that arrive after the bind wait for it instead of failing. Routes
   * marked `early` do not wait, so that a second server finds out immediately who has the port.
   */
  readonly opened: Promise<void>;
  readonly acquire: (request: IncomingMessage) => Promise<void> | undefined;
  readonly queueFull: UseCases['queueFull'];
}

const ACCEPTABLE_ID = /^[A-Za-z0-9._-]{1,128}$/;

/** The client's own id if it is harmless, else a new one. */
export function requestId(headers: Readonly<Record<string, string | string[] | undefined>>): string {
  const offered = headerValue(headers, HEADERS.requestId);
  return offered !== undefined && ACCEPTABLE_ID.test(offered) ? offered : `req_${randomUUID()}`;
}

export function commonHeaders({ instanceId, bootId }: ProcessNames, id: string) {
  return {
    Server: SERVER_BANNER,
    [HEADERS.requestId]: id,
    [HEADERS.instanceId]: instanceId,
    [HEADERS.bootId]: bootId,
  };
}

export function addHooks(app: FastifyInstance, options: HookOptions): void {
  app.addHook('onRequest', async (request, reply) => {
    await options.acquire(request.raw);
    if (routeAccess(request)?.early !== true) await options.opened;
    reply.headers(commonHeaders(options.process, request.id));
    reply.headers(framingFor(routeAccess(request)?.dialect).headers(request.id));
    // Otherwise a client would reuse a connection that is about to close.
    if (options.isDraining()) reply.header('Connection', 'close');
    if (request.raw.rawHeaders.length > 2 * HTTP_LIMITS.maxHeaders) throw tooManyHeaders();
    const facts = accessFacts(request);
    const foreign = refuseForeign(options.access, facts);
    if (foreign) throw foreign;
    // Before the key check: a browser needs the page to enter a key.
    if (request.routeOptions.url === routes.home.path && wantsPage(request.headers.accept))
      return reply.header('Vary', 'Accept').redirect(PAGE_ADDRESS, 302);
    if (asksForKey(request)) {
      await options.keys.refresh();
      admit(request, reply, whoAsks(options.access, options.keys, facts));
    }
    refuseOtherMethod(request);
    const rules = adminRules(options, request);
    const admin = routeAccess(request)?.admin;
    const refusal = admin === undefined ? null : refuseAdmin(rules, facts, admin);
    if (refusal) throw refusal;
    if (facts.pageToken !== undefined && refuseAdmin(rules, facts, 'of owner') === null) owners.add(request);
    if (request.raw.httpVersionMajor > 1) throw fail('unsupported_http_version');
    if (isEncoded(request.raw.headers)) throw fail('unsupported_content_encoding');
    // Before the body is read, so that an unknown path costs nothing.
    if (request.is404) throw noRoute(request);
    refuseSurplus(request, options);
  });
  app.addHook('preValidation', async (request) => refuseUnsigned(request));
}

const SIGNING = Object.values<Route>(routes).flatMap(({ signs, path }) => (signs === true ? [path] : []));

/** A request for a record must never get an answer without one. */
function refuseUnsigned(request: FastifyRequest): void {
  const access = routeAccess(request);
  if (access?.computes !== true || access.signs === true) return;
  const { evidenceMode: param } = REQUEST_HEADERS;
  if (headerValue(request.headers, param) === undefined) return;
  const path = request.routeOptions.url;
  const message = `${path} gives no signed records; leave ${param} out, or ask ${SIGNING.join(', ')}.`;
  throw fail('unsupported_value', { param, message });
}

/** Refuses a flood before its bodies are read. */
function refuseSurplus(request: FastifyRequest, { queueFull }: HookOptions): void {
  // A preflight computes nothing and has no owner.
  if (routeAccess(request)?.queued !== true || !asksForKey(request)) return;
  const full = queueFull(clientKey(request, requireOwner(request)));
  if (full !== null) throw fail('queue_full', full);
}

const isEncoded = ({ 'content-encoding': coding }: IncomingHttpHeaders): boolean =>
  coding !== undefined && !/^(?:identity)?$/i.test(coding.trim());

function tooManyHeaders(): SvcError {
  return fail('invalid_request', {
    message: `The request has more than ${HTTP_LIMITS.maxHeaders} headers; send fewer.`,
  });
}

/** Before the checks that only the route's own methods have to pass. */
function refuseOtherMethod(request: FastifyRequest): void {
  const { url, config } = request.routeOptions;
  if ((config.allow === undefined && !request.is404) || isPreflight(request)) return;
  const path = url?.replace('/*', '') ?? plainPath(request);
  const allow =
    config.allow ??
    routesAt(path)
      .map(({ method }) => method)
      .join(', ');
  if (allow !== '') throw fail('method_not_allowed', { method: request.method, path, allow });
}

const plainPath = ({ url }: FastifyRequest): string => url.replace(/\?.*/s, '').slice(0, 200);

function noRoute(request: FastifyRequest): SvcError {
  const path = plainPath(request);
  const known = Object.hasOwn(OLLAMA_INSTEAD, path) ? OLLAMA_INSTEAD[path] : undefined;
  const instead = known ?? meantRoute(request.method, path);
  return fail('route_not_found', { method: request.method, path, ...(instead && { instead }) });
}

/** A path without a route needs the key. A browser sends none with a preflight. */
const asksForKey = (request: FastifyRequest): boolean =>
  !isPreflight(request) && routeAccess(request)?.authenticated !== false;

const isPreflight = ({ method, headers }: FastifyRequest): boolean =>
  method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;

/** Throws the refusal. A request of a named key counts until all of its work has ended. */
function admit(request: FastifyRequest, reply: FastifyReply, asker: Asker): void {
  if ('refusal' in asker) throw asker.refusal;
  accepted.set(request, asker);
  if (asker.holder === null) return;
  if (!computes(request)) return;
  const open = asker.holder.begin();
  openRequests.set(request, open);
  reply.raw.once('close', open.hold());
}

const accepted = new WeakMap<FastifyRequest, Accepted>();
const openRequests = new WeakMap<FastifyRequest, OpenRequest>();

export function keyHolder(request: FastifyRequest): KeyHolder | undefined {
  return accepted.get(request)?.holder ?? undefined;
}

export function ownKeyName(request: FastifyRequest): string | null {
  const record = keyHolder(request)?.record;
  return record === undefined || record.admin ? null : record.name;
}

export function requestOwner(request: FastifyRequest): string | undefined {
  return accepted.get(request)?.owner;
}

/** A route that requires no key has no owner, so it may not read stored data. */
export function requireOwner(request: FastifyRequest): string {
  const owner = requestOwner(request);
  if (owner === undefined) throw new Error('this route does not know whose its request is');
  return owner;
}

export function openRequest(request: FastifyRequest): OpenRequest | undefined {
  return openRequests.get(request);
}

function adminRules({ access, keys, pageToken }: HookOptions, request: FastifyRequest): AdminRules {
  const isKeyed = access.apiKey !== null || keys.hasKeys;
  return { isKeyed, holder: keyHolder(request) ?? null, pageToken };
}

const owners = new WeakSet<FastifyRequest>();

/** True for the user that runs the service, who may see paths. */
export const isOwner = (request: FastifyRequest): boolean => owners.has(request);

export const computes = (request: FastifyRequest): boolean => routeAccess(request)?.computes === true;

/** Methods that fastify does not know have no route; their refusal speaks the words of the path all the same. */
export const routeAccess = (request: FastifyRequest): RouteAccess | undefined =>
  request.routeOptions.config.access ?? (request.is404 ? routesAt(plainPath(request))[0] : undefined);

export function accessFacts(request: FastifyRequest): AccessFacts {
  const { raw, headers } = request;
  const isLanding =
    routeAccess(request)?.forBrowsers === true &&
    headerValue(headers, 'Sec-Fetch-Mode') === 'navigate' &&
    headerValue(headers, 'Sec-Fetch-Dest') === 'document';
  return { ...readAccessFacts(raw), isLanding, isAnyHost: routeAccess(request)?.anyHost === true };
}

interface Ending {
  readonly route: Route;
  readonly base: string;
  readonly pattern: RegExp;
}

const table: Readonly<Record<string, Route>> = routes;
const ENDINGS: readonly Ending[] = Object.values(table)
  .filter(({ hidden, path }) => hidden !== true && path !== '/')
  .map((route) => {
    const base = route.path.startsWith('/v1/') ? '/v1' : '';
    const own = route.path.slice(base.length).replaceAll(/[.+?()]/g, String.raw`\$&`);
    const filled = own.replace('*', '.+').replaceAll(/:\w+/g, '[^/]+');
    return { route, base, pattern: new RegExp(`(?:${base})?(${filled})$`) };
  });

const hasBlanks = ({ path }: Route): boolean => /[*:]/.test(path);

/** Of a path with and without parameters, the one without. */
function routesAt(path: string): readonly Route[] {
  const found = ENDINGS.filter(({ base, pattern }) => {
    const [, own] = pattern.exec(path) ?? [];
    return own !== undefined && base + own === path;
  }).map(({ route }) => route);
  const plain = found.filter((route) => !hasBlanks(route));
  return plain.length === 0 ? found : plain;
}

/**
 * The closest route, for the hint of a 404: first a path without parameters, then the longest, then one of the same
 * method. For another method parameters match nothing. Undefined: no route matches.
 */
function meantRoute(method: string, path: string): string | undefined {
  const plain = path.replaceAll(/\/{2,}/g, '/').replace(/\/$/, '');
  const found = ENDINGS.flatMap(({ route, base, pattern }) => {
    const [ending, own] = pattern.exec(plain) ?? [];
    const isSameMethod = route.method === method;
    if (ending === undefined || (!isSameMethod && hasBlanks(route))) return [];
    const meant = `${base}${own}`;
    const rank = [!hasBlanks(route), ending.length, isSameMethod, ending === meant].map(Number);
    return [{ text: `${route.method} ${meant}`, rank }];
  });
  return found.toSorted((one, other) => compare(other.rank, one.rank))[0]?.text;
}

function compare(one: readonly number[], other: readonly number[]): number {
  const at = one.findIndex((value, index) => value !== other[index]);
  return at === -1 ? 0 : (one[at] ?? 0) - (other[at] ?? 0);
}
