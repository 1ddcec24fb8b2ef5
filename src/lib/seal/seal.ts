/** Seals this process, all its threads and all that it starts: from here on nothing opens a connection, and nothing undoes it. */
import net from 'node:net';
import { openKernel } from './kernel.ts';
import { guardSockets } from './socket-guard.ts';
import { type Filter, filterProgram, supportedPlatform } from './syscall-filter.ts';

/** Mechanism of the seal: the kernel, or Node's own functions where the kernel cannot. */
export type SealKind = 'seccomp' | 'socket-guard';

/** `listening` leaves the right to bind a port, `closed` removes it too. */
export async function sealNetwork(filter: Filter): Promise<SealKind> {
  const platform = supportedPlatform(process.platform, process.arch);
  const kernel = await openKernel();
  if (platform !== null && kernel?.filterCalls(filterProgram(platform, filter)) === true) return 'seccomp';
  guardSockets();
  return 'socket-guard';
}

/** Tries to connect; returns the code of the refusal, or null if a connection was possible. */
export function connectionRefusal(port: number, host = '127.0.0.1'): Promise<string | null> {
  return new Promise((resolve) => {
    try {
      const socket = net.connect(port, host);
      socket.once('connect', () => {
        socket.destroy();
        resolve(null);
      });
      socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'unknown'));
    } catch (error) {
      resolve((error as NodeJS.ErrnoException).code ?? 'unknown');
    }
  });
}
