/**
 * Refuses chats that would find no place to wait, before fastify sees them and their body is read: in a flood this costs
 * a tenth of a millisecond where reading first would cost several. What is refused for another reason, or comes from a
 * page, goes the usual way.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Logger } from '../../lib/base/logger.ts';
import type { Dialect } from '../../wire/error.ts';
import { routes, type Route } from '../../wire/routes.ts';
import { clientKey } from '../client-key.ts';
import { mannersOf } from '../dialects/manners.ts';
import { asSvcError, errorResponse } from '../error-response.ts';

export interface DoorOptions {
  crowdedOut(clientKey: string, arriving: ReadonlyMap<string, number>): Error | null;
  /** Whether the Host, the Origin and the key of the request let it in. */
  mayEnter(request: IncomingMessage): boolean;
  /** What every response carries. */
  headers(request: IncomingMessage): Readonly<Record<string, string>>;
  readonly requestIdHeader: string;
  readonly log: Logger;
}

type Listener = (request: IncomingMessage, response: ServerResponse) => void;

/** Dialects of the routes whose jobs wait, by path. */
const QUEUED: ReadonlyMap<string, Dialect | undefined> = new Map(
  Object.values(routes as Readonly<Record<string, Route>>)
    .filter(({ queued }) => queued === true)
    .map(({ path, dialect }) => [path, dialect]),
);

/** Requests that were let in and are with no use case yet, by the client that sent them. */
const arrived = new Map<IncomingMessage, string>();

/** The request is with its use case, whose jobs the engine counts. */
export function leaveDoor(request: IncomingMessage): void {
  arrived.delete(request);
}

/** Stands before the one listener that the server has. */
export function keepDoor(server: Server, options: DoorOptions): void {
  const [inside] = server.listeners('request') as Listener[];
  if (inside === undefined) throw new Error('there is nothing behind the door');
  server.removeAllListeners('request');
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (request.method !== 'POST' || !QUEUED.has(request.url ?? '')) return inside(request, response);
    if (request.headers.origin !== undefined || !options.mayEnter(request)) return inside(request, response);
    const client = clientKey({ ip: request.socket.remoteAddress ?? '', headers: request.headers });
    const refusal = options.crowdedOut(client, arriving());
    if (refusal !== null) return refuse(request, response, { refusal, client, options });
    arrived.set(request, client);
    response.once('close', () => arrived.delete(request));
    inside(request, response);
  });
}

/** Only those that have arrived whole: bodies that never end must not keep others out. */
function arriving(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const [{ complete }, client] of arrived)
    if (complete) counts.set(client, (counts.get(client) ?? 0) + 1);
  return counts;
}

interface Refused {
  readonly refusal: Error;
  readonly client: string;
  readonly options: DoorOptions;
}

function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  { refusal, client, options }: Refused,
): void {
  const route = request.url ?? '';
  const dialect = QUEUED.get(route);
  const common = options.headers(request);
  const requestId = common[options.requestIdHeader] ?? '';
  const error = asSvcError(refusal);
  const { status, headers, body, sentence } = errorResponse(error, { dialect, requestId });
  const text = JSON.stringify(body);
  response.writeHead(status, sentence.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, 200), {
    ...common,
    ...mannersOf(dialect).headers(requestId),
    ...headers,
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
  });
  response.end(text);
  const line = { method: request.method, route, status, ms: 0, error: error.code, requestId, client };
  options.log.warn(line, 'request failed');
}
