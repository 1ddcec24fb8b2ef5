/** Seals this process with all its threads and children: no new connections, irreversibly. */
import net from 'node:net';
import { openKernel } from './kernel.ts';
import { guardSockets } from './socket-guard.ts';
import { type Filter, filterProgram, supportedPlatform } from './syscall-filter.ts';

/** `socket-guard` replaces Node's own functions where the kernel has no filter. */
export type SealKind = 'seccomp' | 'socket-guard';

/** `listening` keeps the right to bind a port, `closed` removes it too. */
export async function sealNetwork(filter: Filter): Promise<SealKind> {
  const platform = supportedPlatform(process.platform, process.arch);
  const kernel = await openKernel();
  if (platform !== null && kernel?.filterCalls(filterProgram(platform, filter)) === true) return 'seccomp';
  guardSockets();
  return 'socket-guard';
}

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
