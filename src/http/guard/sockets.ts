/** Bounds the number of open sockets without refusing anybody: the oldest that has not sent a request gives way. */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { HTTP_LIMITS } from '../limits.ts';

export function boundSockets(server: Server, maxSockets: number = HTTP_LIMITS.maxSockets): void {
  /** In order of arrival; a socket leaves the set with its first complete request, or when it closes. */
  const silent = new Set<Socket>();
  let open = 0;
  server.on('connection', (socket: Socket) => {
    open += 1;
    silent.add(socket);
    socket.once('close', () => {
      open -= 1;
      silent.delete(socket);
    });
    if (open <= maxSockets) return;
    const [oldest] = silent;
    oldest?.destroy();
  });
  server.on('request', (request) => silent.delete(request.socket));
}
