/** A Unix socket that only this user can open, or a named pipe of Windows. */
import { lstat, unlink } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { fail, type SvcError } from '../../../lib/errors/svc-error.ts';

/** umask under which only the owner can use the file. */
const PRIVATE_MASK = 0o177;
/** Limit of the kernels, including the final zero. */
const MOST_PATH_BYTES = process.platform === 'linux' ? 108 : 104;

const local = new WeakSet<Socket>();

/** Only this process's user and root can open the socket. */
export const isLocalSocket = (socket: Socket): boolean => local.has(socket);

export async function listenOnSocket(path: string, take: (socket: Socket) => void): Promise<Server> {
  const isPipe = process.platform === 'win32';
  if (isPipe && !path.startsWith('\\\\.\\pipe\\'))
    throw refused(path, 'is not the name of a pipe; write one such as \\\\.\\pipe\\hearth');
  if (!isPipe && Buffer.byteLength(path) >= MOST_PATH_BYTES)
    throw refused(path, `is too long; a socket's path has at most ${MOST_PATH_BYTES - 1} bytes`);
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    // A pipe has the system's default rights, so it does not identify the user.
    if (!isPipe) local.add(socket);
    take(socket);
  });
  const first = await tried(server, path);
  if (first === null) return server;
  if (first.code !== 'EADDRINUSE' || isPipe) throw unusable(path, first);
  if (!(await lstat(path)).isSocket()) throw refused(path, 'exists and is not a socket; choose another path');
  if (await isListening(path))
    throw refused(path, 'is in use by another program; end that, or choose another path');
  await unlink(path);
  const second = await tried(server, path);
  if (second === null) return server;
  throw unusable(path, second);
}

/** Null: it listens. The file is created within the synchronous call, so that it is never open to others. */
function tried(server: Server, path: string): Promise<NodeJS.ErrnoException | null> {
  return new Promise((resolve) => {
    const onError = (error: NodeJS.ErrnoException): void => resolve(error);
    server.once('error', onError);
    const before = process.umask(PRIVATE_MASK);
    try {
      server.listen({ path }, () => {
        server.off('error', onError);
        resolve(null);
      });
    } finally {
      process.umask(before);
    }
  });
}

function isListening(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

function unusable(path: string, error: NodeJS.ErrnoException): SvcError {
  const why: Readonly<Record<string, string>> = {
    ENOENT: 'lies in a folder that does not exist',
    EACCES: 'lies in a folder that this user cannot write',
  };
  return refused(
    path,
    `${why[error.code ?? ''] ?? `cannot be used (${error.code})`}; choose another path`,
    error,
  );
}

function refused(path: string, what: string, cause?: unknown): SvcError {
  return fail('invalid_request', { param: 'SVC_SOCKET', message: `SVC_SOCKET: ${path} ${what}.` }, cause);
}
