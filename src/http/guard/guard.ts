/**
 * http/guard owns what is decided before a route sees a request: who may call, and which bytes are a usable body. It
 * knows no route and no use case; http/hooks.ts applies it. This file: an exact Host allow-list against DNS rebinding, no
 * foreign web page (Origin, Sec-Fetch-Site), and the API key if one is set. Pure.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { fail, type SvcError } from '../../lib/errors/svc-error.ts';

export interface AccessRules {
  /** Host names besides 127.0.0.1, localhost and [::1], lower case, without port. */
  readonly allowedHosts: readonly string[];
  /** Exact origins that may call from a browser, e.g. `app://obsidian.md`. */
  readonly allowedOrigins: readonly string[];
  readonly apiKey: string | null;
}

export interface AccessFacts {
  readonly host: string | undefined;
  readonly origin: string | undefined;
  readonly fetchSite: string | undefined;
  readonly authorization: string | undefined;
  readonly apiKeyHeader: string | undefined;
}

const LOOPBACK_HOSTS = new Set(['127.0.0.1', 'localhost', '[::1]']);
/** host or host:port; no userinfo, no path, no trailing dot. The port is ignored: port mapping is legitimate. */
const HOST_PATTERN = /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*)(?::\d{1,5})?$/;

/** The error that a request deserves for its Host and Origin, or null when it may come in. */
export function refuseForeign(rules: AccessRules, facts: AccessFacts): SvcError | null {
  const host = facts.host ?? '';
  const name = HOST_PATTERN.exec(host)?.[1]?.toLowerCase();
  if (name === undefined || !(LOOPBACK_HOSTS.has(name) || rules.allowedHosts.includes(name)))
    return fail('forbidden_host', { host });

  if (facts.origin !== undefined) {
    if (isSameOrigin(facts.origin, host) || rules.allowedOrigins.includes(facts.origin)) return null;
    return fail('forbidden_origin', { origin: facts.origin });
  }
  // A browser that hides the origin still says that another site asks.
  if (facts.fetchSite === 'cross-site') return fail('hidden_origin');
  return null;
}

function isSameOrigin(origin: string, host: string): boolean {
  return origin === `http://${host}` || origin === `https://${host}`;
}

/** The error that a request deserves for its key, or null. Both sides are hashed, which hides timing differences. */
export function refuseKey(rules: AccessRules, facts: AccessFacts): SvcError | null {
  if (rules.apiKey === null) return null;
  const bearer = /^Bearer\s+(.+)$/i.exec(facts.authorization ?? '')?.[1];
  const offered = bearer ?? facts.apiKeyHeader;
  if (offered !== undefined && timingSafeEqual(sha256(offered), sha256(rules.apiKey))) return null;
  return fail('unauthorized');
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
