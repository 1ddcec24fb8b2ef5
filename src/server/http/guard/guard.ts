/**
 * server/http/guard owns the decisions before a route sees a request: who may call, and which bytes are a usable body. It
 * knows no route and no use case; server/http/hooks.ts applies it. This file: an exact Host allow-list against DNS
 * rebinding, no foreign web page (Origin, Sec-Fetch-Site), and the API key if one is set. Pure.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { KeyHolder } from '../../api/access/key-holder.ts';
import { NOBODY, ownerOfKey } from '../../api/access/owner.ts';
import { fail, type SvcError } from '../../../lib/errors/svc-error.ts';
import type { RouteAccess } from '../../../wire/routes.ts';
import type { IncomingMessage } from 'node:http';
import { headerValue, REQUEST_HEADERS } from '../../../wire/headers.ts';

export interface AccessRules {
  /** In addition to 127.0.0.1, localhost and [::1]; lower case, without port. */
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
  /** Pages served from this machine, and those of desktop programs. */
  readonly allowLocalPages: boolean;
  readonly allowDockerHost: boolean;
  readonly apiKey: string | null;
  /** Current names of the bound address; a machine may get others at run time. */
  readonly ownHosts: () => readonly string[];
  /**
   * True if other machines can reach the service: then every request needs a key, even after the last one is revoked.
   */
  readonly needsKey: boolean;
}

export interface NamedKeys {
  readonly hasKeys: boolean;
  findHolder(offered: string): KeyHolder | null;
}

/** Keys may change at run time; `refresh` rejects while their file cannot be trusted. */
export interface FreshKeys extends NamedKeys {
  refresh(): Promise<void>;
}

export interface Accepted {
  readonly holder: KeyHolder | null;
  readonly owner: string;
}

export type Asker = Accepted | { readonly refusal: SvcError };

export interface AdminRules {
  readonly isKeyed: boolean;
  readonly holder: KeyHolder | null;
  readonly pageToken: string;
}

export interface AccessFacts {
  readonly host: string | undefined;
  readonly origin: string | undefined;
  readonly fetchSite: string | undefined;
  readonly isAnyHost: boolean;
  /** The user follows a link to a top-level page, which no other page can read. */
  readonly isLanding: boolean;
  readonly authorization: string | undefined;
  readonly apiKeyHeader: string | undefined;
  readonly pageToken: string | undefined;
}

const LOOPBACK_HOSTS = new Set(['127.0.0.1', 'localhost', '[::1]']);
/** Docker's and Podman's. They are not in the public DNS, so no site can have them. */
const CONTAINER_HOSTS = new Set(['host.docker.internal', 'host.containers.internal']);
/** A loopback name on any port, or a scheme of desktop programs. Browser extensions and files are excluded. */
const LOCAL_PAGE =
  /^(?:https?:\/\/(?:(?:[a-z0-9-]+\.)*localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?|(?:app|tauri|vscode-webview|vscode-file):\/\/[a-z0-9._-]*)$/i;
/**
 * host or host:port; no userinfo, no path, no trailing dot. The port is ignored, because port mapping is legitimate.
 */
const HOST_PATTERN = /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*)(?::\d{1,5})?$/;

export function refuseForeign(rules: AccessRules, facts: AccessFacts): SvcError | null {
  const host = facts.host ?? '';
  const name = HOST_PATTERN.exec(host)?.[1]?.toLowerCase();
  if (!facts.isAnyHost && (name === undefined || !isAllowedHost(rules, name)))
    return fail('forbidden_host', { host, isContainer: name !== undefined && CONTAINER_HOSTS.has(name) });

  const { origin } = facts;
  if (origin !== undefined) {
    if (isSameOrigin(origin, host) || isAllowedOrigin(rules, origin)) return null;
    return fail('forbidden_origin', { origin, isLocal: LOCAL_PAGE.test(origin) });
  }
  // A browser that hides the origin still reports a cross-site request.
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

export function isAllowedOrigin(rules: AccessRules, origin: string): boolean {
  return rules.allowedOrigins.includes(origin) || (rules.allowLocalPages && LOCAL_PAGE.test(origin));
}

function isSameOrigin(origin: string, host: string): boolean {
  return origin === `http://${host}` || origin === `https://${host}`;
}

/**
 * The service's key permits everything, a named key its holder's rights; without any key, none is needed. Only one
 * key of a request counts: the bearer token, or else the key header. Comparing hashes hides timing differences.
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
  if (rules.apiKey !== null && timingSafeEqual(sha256(offered), sha256(rules.apiKey)))
    return { holder: null, owner: ownerOfKey(offered) };
  const holder = keys.findHolder(offered);
  if (holder === null) return { refusal: fail('unauthorized', { isUnknown: true }) };
  const refusal = holder.refusal(offered);
  return refusal === null ? { holder, owner: holder.owner } : { refusal };
}

/** Current rights of the owner of an earlier request; null: its key is no longer valid. */
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
 * Refusal of a change, or null. If keys exist, the service key and admin keys may make changes. Without keys the service
 * is on loopback, where neither a web page nor another local user may: the page token proves the user that runs the
 * service. Changes that name files of that user need it in addition to any key. A form cannot send a custom header, and
 * a page of another origin needs a preflight for it.
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
    isAnyHost: false,
    isLanding: false,
    authorization: headers.authorization,
    apiKeyHeader: headerValue(headers, REQUEST_HEADERS.apiKey),
    pageToken: headerValue(headers, REQUEST_HEADERS.pageToken),
  };
}

/**
 * The host in the request: the Host headers, and the authority of an absolute request target if it differs. More than
 * one makes a list, which no rule allows; Node itself would return the first only.
 */
function namedHost({ rawHeaders, url = '' }: Head): string {
  const hosts = rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === 'host');
  const authority = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(url)?.[1];
  return [...hosts, ...(authority === undefined || authority === hosts[0] ? [] : [authority])].join(', ');
}
