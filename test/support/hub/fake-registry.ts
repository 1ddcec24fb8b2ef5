/** A registry of npm packages as a real HTTP server on loopback, with packages that npm packed. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { PACKAGE_VERSION } from '../../../src/lib/files/native-library.ts';
import { openAccess } from '../../../src/store/hub/access.ts';
import type { InstallEvent } from '../../../src/store/install/install-event.ts';
import type { LibraryInstall } from '../../../src/store/libraries/install.ts';
import type { LibraryPackage } from '../../../src/store/libraries/packages.ts';
import { listen, sendBytes, sendError } from './fake-hub.ts';

export function packed(name: string): Buffer {
  return readFileSync(new URL(`../../fixtures/npm/${name}.tgz`, import.meta.url));
}

/** A row for a fixture, as it stands in the table of packages. */
export function libraryPackage(name: string): LibraryPackage {
  const bytes = packed(name);
  return {
    name,
    integrity: `sha512-${createHash('sha512').update(bytes).digest('base64')}`,
    downloadBytes: bytes.length,
    unpackedBytes: 400_000,
  };
}

/** Returns true when it has answered. */
type Hook = (request: IncomingMessage, response: ServerResponse, bytes: Buffer) => boolean;

export interface FakeRegistry {
  readonly url: string;
  readonly seen: { readonly path: string; readonly headers: IncomingHttpHeaders }[];
  /** What a command needs to install both fixtures from here. */
  readonly install: (folder: string) => LibraryInstall & { readonly events: InstallEvent[] };
}

export async function startFakeRegistry(hook: Hook = () => false): Promise<FakeRegistry> {
  const seen: FakeRegistry['seen'] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    seen.push({ path, headers: request.headers });
    response.on('error', () => {});
    const [, name, file] = /^\/npm\/@node-llama-cpp\/([\w-]+)\/-\/([\w.-]+)$/.exec(path) ?? [];
    if (name === undefined || file !== `${name}-${PACKAGE_VERSION}.tgz`) return sendError(response, 404, '');
    const bytes = name.startsWith('linux-x64-gpu') ? packed(name) : Buffer.alloc(0);
    if (!hook(request, response, bytes)) sendBytes(request, response, bytes);
  });
  const url = `${await listen(server)}/npm`;
  return {
    url,
    seen,
    install: (folder) => {
      const events: InstallEvent[] = [];
      return {
        folder,
        library: { main: libraryPackage('linux-x64-gpu'), extension: libraryPackage('linux-x64-gpu-ext') },
        access: openAccess({ endpoint: url, token: 'secret-of-the-registry' }),
        registry: url,
        retries: { tries: 3, firstDelayMs: 1, longestDelayMs: 2 },
        onEvent: (event) => events.push(event),
        events,
      };
    },
  };
}

/** An HTTP proxy that opens tunnels and remembers to where. */
export async function startFakeProxy(): Promise<{
  readonly url: string;
  readonly tunnels: { readonly to: string; readonly authorization: string | undefined }[];
}> {
  const tunnels: { to: string; authorization: string | undefined }[] = [];
  const server = createServer();
  server.on('connect', (request, socket, head) => {
    const to = request.url ?? '';
    tunnels.push({ to, authorization: request.headers['proxy-authorization'] });
    const [host = '', port] = to.split(':');
    const far = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      far.write(head);
      far.pipe(socket).pipe(far);
    });
    far.on('error', () => socket.destroy());
    socket.on('error', () => far.destroy());
    socket.on('close', () => far.destroy());
  });
  return { url: await listen(server), tunnels };
}
