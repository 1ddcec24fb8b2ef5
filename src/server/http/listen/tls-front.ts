/**
 * TLS in front of a server of node:http: a connection reaches the server after its handshake. Handshakes are bounded
 * in time and number, and a client that speaks plain HTTP gets an explanation instead of a closed connection.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { createServer, type TLSSocket } from 'node:tls';
import type { Clock } from '../../../lib/base/clock.ts';
import { HTTP_LIMITS } from '../limits.ts';

export interface Credentials {
  /** PEM, with intermediate certificates after it. */
  readonly cert: string;
  readonly key: string;
}

export interface TlsFront {
  renew(credentials: Credentials): void;
  stop(): void;
}

interface FrontOptions {
  readonly tls: Credentials;
  readonly clock: Clock;
  readonly plainRefusal: () => string;
  take(socket: Socket): void;
}

/** The type of the first record that a TLS client sends. */
const HANDSHAKE_RECORD = 0x16;

export function frontWithTls(server: Server, { tls, clock, plainRefusal, take }: FrontOptions): TlsFront {
  const handshakes = new Handshakes(clock);
  const decrypting = createServer({ ...tls, ALPNProtocols: ['http/1.1'] }, (socket: TLSSocket) => {
    handshakes.over(socket);
    take(socket);
  });
  decrypting.on('tlsClientError', (_, socket) => socket.destroy());
  server.removeAllListeners('connection');
  server.on('connection', (raw: Socket) => {
    handshakes.begin(raw);
    raw.on('error', () => raw.destroy());
    raw.once('data', (first: Buffer) => {
      if (first[0] !== HANDSHAKE_RECORD) return raw.resume().end(plainRefusal(), () => raw.destroySoon());
      raw.pause();
      raw.unshift(first);
      decrypting.emit('connection', raw);
    });
  });
  return { renew: (credentials) => decrypting.setSecureContext(credentials), stop: () => handshakes.end() };
}

class Handshakes {
  readonly #clock: Clock;
  readonly #open = new Map<string, Socket>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  begin(raw: Socket): void {
    const name = connectionName(raw);
    this.#open.set(name, raw);
    const cancel = this.#clock.after(HTTP_LIMITS.handshakeTimeoutMs, () => {
      if (this.#open.get(name) === raw) raw.destroy();
    });
    raw.once('close', () => {
      cancel();
      if (this.#open.get(name) === raw) this.#open.delete(name);
    });
    if (this.#open.size <= HTTP_LIMITS.maxHandshakes) return;
    const [oldest] = this.#open.values();
    oldest?.destroy();
  }

  over(socket: Socket): void {
    this.#open.delete(connectionName(socket));
  }

  end(): void {
    for (const raw of this.#open.values()) raw.destroy();
  }
}

const connectionName = ({ remoteAddress, remotePort, localAddress }: Socket): string =>
  `${localAddress} ${remoteAddress} ${remotePort}`;
