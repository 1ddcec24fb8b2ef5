/**
 * server/http/listen owns the addresses of the service: TCP with TLS or without, and a local socket. All of them lead to one
 * server of node:http, so that guards and limits exist once. It knows nothing of requests.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Clock } from '../../../lib/base/clock.ts';
import { listenOnSocket } from './local-socket.ts';
import { type Credentials, frontWithTls } from './tls-front.ts';

export interface Address {
  readonly host: string;
  readonly port: number;
  readonly socket: string | null;
  readonly tls: Credentials | null;
}

interface Listening extends Address {
  readonly plainRefusal: () => string;
  readonly clock: Clock;
}

export interface Bound {
  readonly port: number;
  renewTls(credentials: Credentials): void;
  /** Closes the listeners, and connections that cannot carry a request yet. */
  stop(): void;
}

export async function listen(app: FastifyInstance, options: Listening): Promise<Bound> {
  const { host, port, socket, tls } = options;
  const take = connectionHandler(app.server);
  const front = tls === null ? null : frontWithTls(app.server, { ...options, tls, take });
  const scheme = tls === null ? 'http' : 'https';
  await app.listen({
    host,
    port,
    listenTextResolver: (url) => `Listening at ${url.replace(/^http/, scheme)}`,
  });
  const address = app.server.address();
  if (address === null || typeof address === 'string') throw new Error('the server listens on no port');
  try {
    const local = socket === null ? null : await listenOnSocket(socket, take);
    return {
      port: address.port,
      renewTls: (credentials) => front?.renew(credentials),
      stop: () => {
        front?.stop();
        local?.close();
      },
    };
  } catch (error) {
    await app.close();
    throw error;
  }
}

function connectionHandler(server: Server): (socket: Socket) => void {
  const takers = server.listeners('connection') as ((socket: Socket) => void)[];
  return (socket) => {
    for (const take of takers) take.call(server, socket);
  };
}
