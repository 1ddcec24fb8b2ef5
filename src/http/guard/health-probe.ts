/**
 * Answers GET /health before fastify sees it: whoever watches the service asks all the time, also while a model computes on
 * every core, and the hooks take twice as long as the answer. Whatever is unusual about a probe goes the usual way; a
 * test holds the two answers together.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { HealthResponse } from '../../wire/health.ts';
import { routes } from '../../wire/routes.ts';
import { HTTP_LIMITS } from '../limits.ts';
import { factsOf } from './askers.ts';
import type { CommonHeaders } from './framing-refusal.ts';
import { type AccessRules, refuseForeign } from './guard.ts';

export interface HealthProbeOptions {
  readonly access: AccessRules;
  readonly headers: CommonHeaders;
  readonly health: () => HealthResponse;
  /** Probes have to be written down, or connections closed after them. */
  readonly needsUsualWay: () => boolean;
  readonly onAnswered: (answered: { readonly route: string; readonly status: number }) => void;
}

type Listener = (request: IncomingMessage, response: ServerResponse) => void;

const { method: METHOD, path: PATH } = routes.health;
const OK = 200;
/** With one of them there is a body, or a page that asks. */
const UNUSUAL = ['content-length', 'transfer-encoding', 'content-encoding', 'origin', 'upgrade'] as const;

/** Stands before the one listener that the server has. */
export function answerHealthProbes(server: Server, options: HealthProbeOptions): void {
  const [inside] = server.listeners('request') as Listener[];
  if (inside === undefined) throw new Error('there is nothing behind the probe');
  server.removeAllListeners('request');
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (!isPlainProbe(request, options)) return inside(request, response);
    const text = JSON.stringify(options.health());
    response.writeHead(OK, {
      ...options.headers(request.headers),
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Length': Buffer.byteLength(text),
    });
    response.end(text);
    options.onAnswered({ route: PATH, status: OK });
  });
}

function isPlainProbe(request: IncomingMessage, { access, needsUsualWay }: HealthProbeOptions): boolean {
  const { method, url, httpVersion, headers, rawHeaders } = request;
  return (
    url === PATH &&
    method === METHOD &&
    httpVersion === '1.1' &&
    rawHeaders.length <= 2 * HTTP_LIMITS.maxHeaders &&
    UNUSUAL.every((name) => headers[name] === undefined) &&
    !needsUsualWay() &&
    refuseForeign(access, factsOf(request)) === null
  );
}
