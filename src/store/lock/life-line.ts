/**
 * A socket that the system closes when its process ends, so that others can check that the lock's holder still runs.
 * Needed where no /proc distinguishes a reused process id.
 */
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface LifeLine {
  readonly name: string;
  close(): void;
}

/** Null if no such socket can be made; only the file's modification time shows life then. */
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

/** Undefined: this process may not connect, as in sealed mode. */
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
    // Abstract: no file can be left over.
    case 'linux':
      return `\0hearth-${token}`;
    case 'win32':
      return `\\\\.\\pipe\\hearth-${token}`;
    default:
      return join(tmpdir(), `hearth-${token}.sock`);
  }
}
