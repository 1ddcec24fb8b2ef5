import { hash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { headerValue, REQUEST_HEADERS } from '../wire/headers.ts';

/**
 * Who a request comes from, for fairness only: the address, the owner and the program that sends it.
 * On one machine all addresses are equal, so a program may name itself by the client id header.
 */
export function clientKey({ ip, headers }: Pick<FastifyRequest, 'ip' | 'headers'>, owner: string): string {
  const id = headerValue(headers, REQUEST_HEADERS.clientId);
  const facts = [ip, owner, headers['user-agent'] ?? '', id ?? ''].join('\n');
  return hash('sha256', facts, 'base64url').slice(0, 16);
}

const MOST_NAME_CHARS = 40;

/**
 * What a client calls itself, for people: its client id, else the browser or the product that its User-Agent names. Nobody checks
 * it, and of what it says only harmless characters are kept.
 */
export function clientName({ headers }: FastifyRequest): string {
  const said = headerValue(headers, REQUEST_HEADERS.clientId) ?? programName(headers['user-agent'] ?? '');
  return said
    .replaceAll(/[^\w .@-]/g, '')
    .trim()
    .slice(0, MOST_NAME_CHARS);
}

/** In this order, because each browser also claims the names after its own. */
const BROWSERS = ['Edg', 'OPR', 'Firefox', 'Chrome', 'Safari'] as const;
const BROWSER_NAMES: Readonly<Record<string, string>> = { Edg: 'Edge', OPR: 'Opera' };

/** The first product of a User-Agent. All browsers begin with Mozilla, so the rest distinguishes them. */
function programName(agent: string): string {
  const first = /^[^\s/(]*/.exec(agent)?.[0] ?? '';
  if (first !== 'Mozilla') return first;
  const browser = BROWSERS.find((name) => agent.includes(`${name}/`));
  return browser === undefined ? 'browser' : (BROWSER_NAMES[browser] ?? browser);
}
