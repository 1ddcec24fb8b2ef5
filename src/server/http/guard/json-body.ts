/**
 * Parses a body before its handler runs: JSON is scanned and parsed, everything else is refused with 415.
 * route-checks.ts validates it against the schema of its route.
 */
import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { KnownMember } from '../../../lib/json/known-member.ts';
import { parseJsonInTurns } from '../../../lib/json/parse-json-in-turns.ts';
import { fail } from '../../../lib/errors/svc-error.ts';
import { KNOWN_TOOLS } from '../limits.ts';

const rawBodies = new WeakMap<FastifyRequest, Buffer>();
const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json(?:\s*;|$)/i;
const FORM_TYPE = /^application\/x-www-form-urlencoded/i;

/** The unmodified bytes of a body, for digests; undefined for a request without a body. */
export function rawBody(request: FastifyRequest): Buffer | undefined {
  return rawBodies.get(request);
}

export function readBodies(app: FastifyInstance): void {
  const tools = new KnownMember('tools', KNOWN_TOOLS);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('multipart/form-data', async (request: FastifyRequest, payload: Readable) => {
    if (request.routeOptions.config.access?.takesForm !== true) throw fail('unsupported_media_type');
    return payload;
  });
  app.addContentTypeParser('*', { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) => {
    // Clients name the type of a body even if a route takes none and they send none.
    if (body.length === 0 && request.routeOptions.schema?.body === undefined) return undefined;
    if (request.routeOptions.config.access?.takesForm === true) throw fail('form_required');
    if (!isAcceptable(request)) throw fail('unsupported_media_type');
    rawBodies.set(request, body);
    return parseJsonInTurns(body, tools);
  });
}

/**
 * `curl -d` without a header declares a form. For a program that is forgiven; a browser always names its origin, and
 * there the wrong type is a means of cross-site request forgery.
 */
function isAcceptable(request: FastifyRequest): boolean {
  const type = request.headers['content-type'] ?? '';
  if (JSON_TYPE.test(type)) return true;
  const fromBrowser = request.headers.origin !== undefined || request.headers['sec-fetch-site'] !== undefined;
  return FORM_TYPE.test(type) && !fromBrowser;
}
