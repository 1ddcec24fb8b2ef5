/**
 * Where the kernel has no filter: every way by which Node opens a connection throws. It stops mistakes and ordinary
 * libraries, not native code and not a program that is started.
 */
import dgram from 'node:dgram';
import dns from 'node:dns';
import net from 'node:net';

function refused(): never {
  throw Object.assign(new Error('this process is sealed: it opens no connection'), { code: 'EACCES' });
}

export function guardSockets(): void {
  Object.assign(net.Socket.prototype, { connect: refused });
  Object.assign(dgram, { createSocket: refused });
  for (const name of ['lookup', 'lookupService', 'resolve', 'resolve4', 'resolve6', 'reverse'] as const)
    Object.assign(dns, { [name]: refused });
  for (const name of ['lookup', 'resolve', 'resolve4', 'resolve6', 'reverse'] as const)
    Object.assign(dns.promises, { [name]: async () => refused() });
}
