/**
 * For kernels without a filter: every way in which Node opens a connection fails as if the kernel refused it. It
 * stops mistakes and ordinary libraries, not native code and not child programs.
 */
import dgram from 'node:dgram';
import dns from 'node:dns';
import net from 'node:net';

const refusal = (): Error =>
  Object.assign(new Error('this process is sealed: it opens no connection'), { code: 'EACCES' });

function refused(): never {
  throw refusal();
}

/** A server resolves its listen address, which needs no network. */
const isOwnAddress = (host: unknown): boolean =>
  typeof host === 'string' && (net.isIP(host) !== 0 || host === 'localhost');

export function guardSockets(): void {
  Object.assign(net.Socket.prototype, {
    connect(this: net.Socket) {
      process.nextTick(() => this.destroy(refusal()));
      return this;
    },
  });
  Object.assign(dgram, { createSocket: refused });
  const { lookup } = dns;
  const { lookup: lookupLater } = dns.promises;
  for (const name of ['lookupService', 'resolve', 'resolve4', 'resolve6', 'reverse'] as const)
    Object.assign(dns, { [name]: refused });
  for (const name of ['lookupService', 'resolve', 'resolve4', 'resolve6', 'reverse'] as const)
    Object.assign(dns.promises, { [name]: async () => refused() });
  Object.assign(dns, {
    lookup: (host: string, ...given: unknown[]): unknown =>
      isOwnAddress(host) ? Reflect.apply(lookup, dns, [host, ...given]) : refused(),
  });
  Object.assign(dns.promises, {
    lookup: async (host: string, ...given: unknown[]): Promise<unknown> =>
      isOwnAddress(host) ? Reflect.apply(lookupLater, dns.promises, [host, ...given]) : refused(),
  });
}
