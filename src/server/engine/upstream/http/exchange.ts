/**
 * One request to an upstream and the head of its answer. Headers are built from nothing, so the client's
 * Authorization and X-Svc- headers never reach an upstream. Redirects and encodings are refused.
 */
import {
  type Agent as HttpAgent,
  type ClientRequest,
  type IncomingMessage,
  request as requestHttp,
} from 'node:http';
import { request as requestHttps } from 'node:https';
import type { Socket } from 'node:net';
import { parseJson } from '../../../../lib/base/json.ts';
import type { Clock } from '../../../../lib/base/clock.ts';
import { fail } from '../../../../lib/errors/svc-error.ts';
import { type Asked, broken, failureOfStatus, unreachable } from '../failures.ts';
import { UPSTREAM_LIMITS } from '../limits.ts';
import type { Deadlines, Upstream } from '../ports.ts';
import { readBytes } from './text.ts';
import type { Connections } from './connections.ts';
import { Watch } from './watch.ts';

interface Outgoing {
  readonly upstream: Upstream;
  readonly url: string;
  /** JSON, sent by POST; absent: a GET. */
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly model: string | null;
  readonly signal: AbortSignal;
  readonly deadlines?: Deadlines;
}

export interface ExchangeDeps {
  readonly clock: Clock;
  readonly connections: Connections;
  readonly userAgent: string;
}

/** An answer with status 200 and an unread body; `end` must always be called. */
export interface Exchange {
  readonly response: IncomingMessage;
  readonly asked: Asked;
  readonly watch: Watch;
  failure(error: unknown): Error;
  end(): void;
}

export async function exchange(deps: ExchangeDeps, outgoing: Outgoing): Promise<Exchange> {
  const { upstream, signal, model } = outgoing;
  const [{ kept, fresh }, key] = [await deps.connections.agentsFor(upstream), await upstream.key()];
  const asked: Asked = { upstream: upstream.name, model, key };
  let current: ClientRequest | undefined;
  let response: IncomingMessage | undefined;
  const stop = (): void => {
    response?.destroy();
    current?.destroy();
  };
  const watch = new Watch(
    deps.clock,
    { upstream: upstream.name, deadlines: outgoing.deadlines ?? upstream.deadlines },
    stop,
  );
  signal.addEventListener('abort', stop, { once: true });
  const end = (): void => {
    watch.end();
    signal.removeEventListener('abort', stop);
  };
  const failure = (error: unknown): Error => {
    if (signal.aborted) return fail('cancelled');
    if (watch.expired !== null) return watch.expired;
    if (response === undefined) return unreachable(upstream.name, error);
    return broken(upstream.name, 'cut', 'the connection ended in the middle of it');
  };
  try {
    if (signal.aborted) throw fail('cancelled');
    const by = (agent: HttpAgent): Promise<IncomingMessage> =>
      send({ ...outgoing, agent, key, userAgent: deps.userAgent }, watch, (request) => {
        current = request;
      });
    try {
      response = await by(kept);
    } catch (error) {
      // The upstream may have closed a kept connection just as it was reused, and others with it.
      const isStale = current?.reusedSocket === true && watch.expired === null && !signal.aborted;
      if (!isStale) throw error;
      response = await by(fresh);
    }
  } catch (error) {
    end();
    throw failure(error);
  }
  try {
    await checkHead(asked, response);
  } catch (error) {
    response.destroy();
    throw watch.expired ?? (signal.aborted ? fail('cancelled') : error);
  } finally {
    if (response.destroyed) end();
  }
  return { response, asked, watch, failure, end };
}

type Sent = Outgoing & {
  readonly agent: HttpAgent;
  readonly key: string | null;
  readonly userAgent: string;
};

function send(
  { url, body, headers, agent, key, userAgent }: Sent,
  watch: Watch,
  onRequest: (request: ClientRequest) => void,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = (url.startsWith('https:') ? requestHttps : requestHttp)(
      url,
      {
        method: body === undefined ? 'GET' : 'POST',
        agent,
        headers: {
          'user-agent': userAgent,
          accept: 'text/event-stream, application/json',
          'accept-encoding': 'identity',
          ...headers,
          ...(key === null ? {} : { authorization: `Bearer ${key}` }),
          ...(body === undefined
            ? {}
            : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) }),
        },
      } as Parameters<typeof requestHttp>[1] & object,
      resolve,
    );
    onRequest(request);
    request.once('socket', (socket: Socket) => onSocket(socket, watch));
    request.once('error', reject);
    request.end(body);
  });
}

function onSocket(socket: Socket, watch: Watch): void {
  socket.setNoDelay(true);
  if (!socket.connecting) return watch.connected();
  const ready = 'encrypted' in socket ? 'secureConnect' : 'connect';
  socket.once(ready, () => watch.connected());
}

async function checkHead(asked: Asked, response: IncomingMessage): Promise<void> {
  const status = response.statusCode ?? 0;
  const encoding = response.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity')
    throw broken(asked.upstream, 'content_type', 'it is compressed, which was not asked for');
  if (status === 200) return;
  const body =
    status >= 400 ? await readBytes(response, UPSTREAM_LIMITS.refusalBytes).catch(() => null) : null;
  const fields = parseJson(body?.toString('utf8') ?? '');
  throw failureOfStatus(asked, { status, retryAfter: response.headers['retry-after'], fields });
}
