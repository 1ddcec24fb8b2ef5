/**
 * http/guard owns what is decided before a route sees a request: who may call, and which bytes are a usable body. It
 * knows no route and no use case; http/hooks.ts applies it. This file: an exact Host allow-list against DNS rebinding, no
 * foreign web page (Origin, Sec-Fetch-Site), and the API key if one is set. Pure.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { KeyHolder } from '../../api/access/key-holder.ts';
import { NOBODY, ownerOfKey } from '../../api/access/owner.ts';
import { fail, type SvcError } from '../../lib/errors/svc-error.ts';
import type { RouteAccess } from '../../wire/routes.ts';
import type { IncomingMessage } from 'node:http';
import { headerValue, REQUEST_HEADERS } from '../../wire/headers.ts';

export interface AccessRules {
  /** Host names besides 127.0.0.1, localhost and [::1], lower case, without port. */
  readonly allowedHosts: readonly string[];
  /** Exact origins that may call from a browser, e.g. `app://obsidian.md`. */
  readonly allowedOrigins: readonly string[];
  /** Pages that this machine itself serves, and those of desktop programs. */
  readonly allowLocalPages: boolean;
  /** The names by which containers call the machine that they run on. */
  readonly allowDockerHost: boolean;
  readonly apiKey: string | null;
  /** Names of the address that the service is bound to, as they are now: a machine may get others. */
  readonly ownHosts: () => readonly string[];
  /** Other machines can reach it: nobody comes in without a key, also when the last one is revoked. */
  readonly needsKey: boolean;
}

/** The keys that people have, each with its holder. */
export interface NamedKeys {
  readonly hasKeys: boolean;
  findHolder(offered: string): KeyHolder | null;
}

/** They may change while the service runs; `refresh` rejects where the file of them cannot be trusted. */
export interface FreshKeys extends NamedKeys {
  refresh(): Promise<void>;
}

/** A request that was let in. */
export interface Accepted {
  /** Holder of a named key; null for the service's own key. */
  readonly holder: KeyHolder | null;
  /** Owner of the request and of its stored data. */
  readonly owner: string;
}

/** The caller, or the refusal. */
export type Asker = Accepted | { readonly refusal: SvcError };

/** Requirements of a route besides the key. */
export interface AdminRules {
  readonly isKeyed: boolean;
  readonly holder: KeyHolder | null;
  /** Made at the start of the service, for its own page. */
  readonly pageToken: string;
}

export interface AccessFacts {
  readonly host: string | undefined;
  readonly origin: string | undefined;
  readonly fetchSite: string | undefined;
  /** The user follows a link to what a browser shows as a page of its own, and no other page sees the answer. */
  readonly isLanding: boolean;
  readonly authorization: string | undefined;
  readonly apiKeyHeader: string | undefined;
  readonly pageToken: string | undefined;
}

const LOOPBACK_HOSTS = new Set(['127.0.0.1', 'localhost', '[::1]']);
/** Docker's and Podman's; they are not of the public DNS, so no site can have them. */
const CONTAINER_HOSTS = new Set(['host.docker.internal', 'host.containers.internal']);
/** A loopback name on any port, or a scheme that only desktop programs have. No extension and no file among them. */
const LOCAL_PAGE =
  /^(?:https?:\/\/(?:(?:[a-z0-9-]+\.)*localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?|(?:app|tauri|vscode-webview|vscode-file):\/\/[a-z0-9._-]*)$/i;
/** host or host:port; no userinfo, no path, no trailing dot. The port is ignored: port mapping is legitimate. */
const HOST_PATTERN = /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*)(?::\d{1,5})?$/;

/** The error that a request deserves for its Host and Origin, or null when it may come in. */
export function refuseForeign(rules: AccessRules, facts: AccessFacts): SvcError | null {
  const host = facts.host ?? '';
  const name = HOST_PATTERN.exec(host)?.[1]?.toLowerCase();
  if (name === undefined || !isAllowedHost(rules, name))
    return fail('forbidden_host', { host, isContainer: name !== undefined && CONTAINER_HOSTS.has(name) });

  const { origin } = facts;
  if (origin !== undefined) {
    if (isSameOrigin(origin, host) || isAllowedOrigin(rules, origin)) return null;
    return fail('forbidden_origin', { origin, isLocal: LOCAL_PAGE.test(origin) });
  }
  // A browser that hides the origin still says that another site asks.
  if (facts.fetchSite === 'cross-site' && !facts.isLanding) return fail('hidden_origin');
  return null;
}

function isAllowedHost(rules: AccessRules, name: string): boolean {
  return (
    LOOPBACK_HOSTS.has(name) ||
    rules.allowedHosts.includes(name) ||
    (rules.allowDockerHost && CONTAINER_HOSTS.has(name)) ||
    rules.ownHosts().includes(name)
  );
}

/** True if a page of this origin may send requests and read the answers. */
export function isAllowedOrigin(rules: AccessRules, origin: string): boolean {
  return rules.allowedOrigins.includes(origin) || (rules.allowLocalPages && LOCAL_PAGE.test(origin));
}

function isSameOrigin(origin: string, host: string): boolean {
  return origin === `http://${host}` || origin === `https://${host}`;
}

/**
 * The key of the service opens everything, a named one what its holder may; where there is no key, nobody needs one. One key
 * counts: the bearer token, and where there is none the key header. Both sides are hashed, which hides timing differences.
 */
export function whoAsks(
  rules: Pick<AccessRules, 'apiKey' | 'needsKey'>,
  keys: NamedKeys,
  facts: AccessFacts,
): Asker {
  const bearer = /^Bearer\s+(.+)$/i.exec(facts.authorization ?? '')?.[1];
  const offered = bearer ?? facts.apiKeyHeader ?? '';
  if (rules.apiKey === null && !keys.hasKeys && !rules.needsKey) return { holder: null, owner: NOBODY };
  if (offered === '') return { refusal: fail('unauthorized') };
  const owner = ownerOfKey(offered);
  if (rules.apiKey !== null && timingSafeEqual(sha256(offered), sha256(rules.apiKey)))
    return { holder: null, owner };
  const holder = keys.findHolder(offered);
  const refusal = holder === null ? fail('unauthorized', { isUnknown: true }) : holder.refusal();
  return refusal === null ? { holder, owner } : { refusal };
}

/** Current rights of an owner of earlier requests; null: its key is no longer valid. */
export function rightsOfOwner(
  rules: Pick<AccessRules, 'apiKey' | 'needsKey'>,
  keys: Pick<NamedKeys, 'hasKeys'> & { findHolderByOwner(owner: string): KeyHolder | null },
  owner: string,
): { readonly holder: KeyHolder | null } | null {
  if (owner === NOBODY)
    return rules.apiKey === null && !keys.hasKeys && !rules.needsKey ? { holder: null } : null;
  if (rules.apiKey !== null && owner === ownerOfKey(rules.apiKey)) return { holder: null };
  const holder = keys.findHolderByOwner(owner);
  return holder === null || holder.refusal() !== null ? null : { holder };
}

/**
 * The error that a change deserves, or null. With a key, whoever has it may. Without one the service is on loopback, where
 * neither a web page nor another user of this machine may: the token of the page is for the user that runs the service. What
 * names files of that user needs it beside any key. A header of our own cannot be sent by a form, and not by a page of
 * another origin without asking first.
 */
export function refuseAdmin(
  rules: AdminRules,
  facts: AccessFacts,
  admin: NonNullable<RouteAccess['admin']>,
): SvcError | null {
  const { holder } = rules;
  if (holder !== null && !holder.record.admin) return fail('admin_required', { name: holder.record.name });
  if (admin !== 'of owner') {
    if (rules.isKeyed || admin === 'of keys') return null;
    const isPage = facts.origin !== undefined || facts.fetchSite !== undefined;
    if (admin === 'from pages' && !isPage) return null;
  }
  const { pageToken } = facts;
  if (pageToken !== undefined && timingSafeEqual(sha256(pageToken), sha256(rules.pageToken))) return null;
  return fail(admin === 'of owner' ? 'owner_required' : 'page_token_required');
}

/** True if the request comes from this service's own page. */
export function refusePageToken({ origin, host = '', fetchSite }: AccessFacts): SvcError | null {
  const isOwnPage = origin !== undefined && isSameOrigin(origin, host);
  const isOther = fetchSite !== undefined && fetchSite !== 'same-origin';
  return isOwnPage && !isOther ? null : fail('page_token_refused');
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

type Head = Pick<IncomingMessage, 'url' | 'headers' | 'rawHeaders'>;

export function readAccessFacts(request: Head): AccessFacts {
  const { headers } = request;
  return {
    host: namedHost(request),
    origin: headers.origin,
    fetchSite: headerValue(headers, 'Sec-Fetch-Site'),
    isLanding: false,
    authorization: headers.authorization,
    apiKeyHeader: headerValue(headers, REQUEST_HEADERS.apiKey),
    pageToken: headerValue(headers, REQUEST_HEADERS.pageToken),
  };
}

/**
 * What the request names as its host: the Host headers, and the authority of a whole URL in the request line where
 * that differs. More than one makes a list, which no rule allows; Node itself would show the first only.
 */
function namedHost({ rawHeaders, url = '' }: Head): string {
  const hosts = rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === 'host');
  const authority = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(url)?.[1];
  return [...hosts, ...(authority === undefined || authority === hosts[0] ? [] : [authority])].join(', ');
}
