import { hash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { headerValue, REQUEST_HEADERS } from '../../wire/headers.ts';

/**
 * Identifies the client for fairness only: its address, owner and program. On one machine all addresses are equal, so
 * a program may name itself in the client id header.
 */
export function clientKey({ ip, headers }: Pick<FastifyRequest, 'ip' | 'headers'>, owner: string): string {
  const id = headerValue(headers, REQUEST_HEADERS.clientId);
  const facts = [ip, owner, headers['user-agent'] ?? '', id ?? ''].join('\n');
  return hash('sha256', facts, 'base64url').slice(0, 16);
}

const MOST_NAME_CHARS = 40;

/**
 * The client's name for display: its client id, else the browser or product of its User-Agent. It is not verified,
 * and only harmless characters are kept.
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

function programName(agent: string): string {
  const first = /^[^\s/(]*/.exec(agent)?.[0] ?? '';
  if (first !== 'Mozilla') return first;
  const browser = BROWSERS.find((name) => agent.includes(`${name}/`));
  return browser === undefined ? 'browser' : (BROWSER_NAMES[browser] ?? browser);
}
