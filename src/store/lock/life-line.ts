/**
 * A socket that the system closes when its process ends: others ask it whether the holder of a lock still runs. Needed
 * where no /proc tells processes of one id apart.
 */
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface LifeLine {
  readonly name: string;
  close(): void;
}

/** Null where no such socket can be made; signs of life in the file are all there is then. */
export function openLifeLine(token: string): Promise<LifeLine | null> {
  const name = socketName(token);
  const server = net.createServer((socket) => socket.destroy());
  return new Promise((resolve) => {
    server.once('error', () => resolve(null));
    server.listen(name, () => {
      server.unref();
      resolve({ name, close: () => void server.close() });
    });
  });
}

/** Undefined: this process may not ask, as in a sealed one. */
export function isAnswered(name: string): Promise<boolean | undefined> {
  return new Promise((resolve) => {
    const socket = net.connect(name);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', ({ code }: NodeJS.ErrnoException) => {
      // EAGAIN: too many connections wait, so the holder listens.
      if (code === 'EAGAIN') resolve(true);
      else resolve(code === 'ECONNREFUSED' || code === 'ENOENT' ? false : undefined);
    });
  });
}

function socketName(token: string): string {
  switch (process.platform) {
    // Abstract: it has no file that could be left behind.
    case 'linux':
      return `\0hearth-${token}`;
    case 'win32':
      return `\\\\.\\pipe\\hearth-${token}`;
    default:
      return join(tmpdir(), `hearth-${token}.sock`);
  }
}
