/**
 * Refuses chats that would find no place to wait, before fastify sees them and their body is read: in a flood this costs
 * a tenth of a millisecond where reading first would cost several. What is refused for another reason, or comes from a
 * page, goes the usual way. This file decides; doorstep.ts does the same for sockets that node:http has not seen.
 */
import type { IncomingHttpHeaders, IncomingMessage, Server } from 'node:http';
import type { DetailOf } from '../../lib/errors/catalogue.ts';
import { fail, type SvcError } from '../../lib/errors/svc-error.ts';
import type { Dialect } from '../../wire/error.ts';
import { routes, type Route } from '../../wire/routes.ts';
import { clientKey } from '../client-key.ts';
import { mannersOf } from '../dialects/manners.ts';
import { errorResponse } from '../error-response.ts';
import type { ShapeOf } from '../error-shape.ts';
import { answerWith, type RawAnswer, reasonPhrase } from './raw-answer.ts';
import { standBefore } from './stand-before.ts';

type QueueFull = DetailOf<'queue_full'>;

/** As much of a request as the door looks at. */
export type Knock = Pick<IncomingMessage, 'method' | 'url' | 'headers'> & {
  readonly rawHeaders: readonly string[];
};

/** A refused request, for whoever keeps account. */
export interface TurnedAway {
  readonly route: string;
  readonly status: number;
  readonly code: string;
  readonly client: string;
}

export interface DoorOptions {
  crowdedOut(clientKey: string, arriving: ReadonlyMap<string, number>): QueueFull | null;
  /** Whose the request is, where its Host, its Origin and its key let it in; else null. */
  ownerOf(knock: Knock): string | null;
  /** What every response carries. */
  headers(asked: IncomingHttpHeaders): Readonly<Record<string, string>>;
  readonly requestIdHeader: string;
  readonly shapeOf: ShapeOf;
  onTurnedAway(refused: TurnedAway): void;
}

/** Dialects of the routes whose jobs wait, by path. */
const QUEUED: ReadonlyMap<string, Dialect | undefined> = new Map(
  Object.values(routes as Readonly<Record<string, Route>>)
    .filter(({ queued }) => queued === true)
    .map(({ path, dialect }) => [path, dialect]),
);

/** Whether what the request asks for waits for a slot of a model; it may have to wait before, too. */
export const waitsForSlot = ({ method, url }: Pick<IncomingMessage, 'method' | 'url'>): boolean =>
  method === 'POST' && QUEUED.has(url ?? '');

/** Requests that were let in and are no jobs yet, by the client that sent them. */
const arrived = new Map<IncomingMessage, string>();

/** The request is about to become a job, which the engine counts. */
export function leaveDoor(request: IncomingMessage): void {
  arrived.delete(request);
}

export class Door {
  readonly #options: DoorOptions;
  /** An error costs its stack, so a flood is refused with one. */
  #last: { readonly full: QueueFull; readonly error: SvcError } | undefined;

  constructor(options: DoorOptions) {
    this.#options = options;
  }

  keep(server: Server): void {
    standBefore(server, (request, response, inside) => {
      const client = this.#clientOf(request, request.socket.remoteAddress);
      if (client === null) return inside(request, response);
      const refusal = this.#refusal(request, client);
      if (refusal !== null) return answerWith(response, refusal);
      arrived.set(request, client);
      response.once('close', () => arrived.delete(request));
      inside(request, response);
    });
  }

  /** The refusal that a request meets here, or null: it is let in, or refused further inside. */
  answer(knock: Knock, address: string | undefined): RawAnswer | null {
    const client = this.#clientOf(knock, address);
    return client === null ? null : this.#refusal(knock, client);
  }

  /** Who sends a request that may be refused here; null: it may not. */
  #clientOf(knock: Knock, address = ''): string | null {
    const { headers } = knock;
    if (!waitsForSlot(knock)) return null;
    const owner = headers.origin === undefined ? this.#options.ownerOf(knock) : null;
    return owner === null ? null : clientKey({ ip: address, headers }, owner);
  }

  #refusal({ url = '', headers: asked }: Knock, client: string): RawAnswer | null {
    const full = this.#options.crowdedOut(client, arriving());
    if (full === null) return null;
    const dialect = QUEUED.get(url);
    const common = this.#options.headers(asked);
    const requestId = common[this.#options.requestIdHeader] ?? '';
    const error = this.#errorOf(full);
    const { status, headers, body, sentence } = errorResponse(error, {
      dialect,
      requestId,
      shape: this.#options.shapeOf({ headers: asked }),
    });
    this.#options.onTurnedAway({ route: url, status, code: error.code, client });
    return {
      status,
      reason: reasonPhrase(sentence),
      headers: { ...common, ...mannersOf(dialect).headers(requestId), ...headers },
      body,
    };
  }

  #errorOf(full: QueueFull): SvcError {
    const last = this.#last?.full;
    if (last?.limit !== full.limit || last.retryAfterS !== full.retryAfterS)
      this.#last = { full, error: fail('queue_full', full) };
    return (this.#last as { error: SvcError }).error;
  }
}

/** Only those that have arrived whole: bodies that never end must not keep others out. */
function arriving(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const [{ complete }, client] of arrived)
    if (complete) counts.set(client, (counts.get(client) ?? 0) + 1);
  return counts;
}
