import type { IncomingMessage, Server, ServerResponse } from 'node:http';

type Listener = (request: IncomingMessage, response: ServerResponse) => void;
type First = (request: IncomingMessage, response: ServerResponse, inside: Listener) => void;

/** Puts `first` before the one listener for requests that `server` has, which it calls or answers in place of. */
export function standBefore(server: Server, first: First): void {
  const [inside] = server.listeners('request') as Listener[];
  if (inside === undefined) throw new Error('nobody answers the requests of this server');
  server.removeAllListeners('request');
  server.on('request', (request: IncomingMessage, response: ServerResponse) =>
    first(request, response, inside),
  );
}
