import { openAccess } from '../hub/access.ts';
import { USUAL_RETRIES } from '../hub/retry.ts';
import type { PackageSource } from './download.ts';
import { readRegistry, type RegistrySources, type RegistrySettings } from './registry.ts';
import { request } from 'node:http';
import type { Socket } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import type { HubAccess } from '../hub/hub-request.ts';

export type Watched = Pick<PackageSource, 'onEvent' | 'signal'>;

export interface PackagePlaces extends RegistrySources {
  /** Private hosts that a registry may redirect to. */
  readonly hubHosts: readonly string[];
  /** Replaces the registry; gets no token. */
  readonly host?: string | undefined;
}

export async function openPackageSource(places: PackagePlaces, watched: Watched): Promise<PackageSource> {
  const { hubHosts, host } = places;
  const settings = await readRegistry(places);
  const registry = host ?? settings.url;
  const token = host === undefined ? settings.token : null;
  const direct = openAccess({ endpoint: registry, token, trustedHosts: hubHosts });
  const access = { ...direct, connect: throughProxies(settings, direct.stallMs) };
  return { access, registry, retries: USUAL_RETRIES, ...watched };
}

interface TunnelOptions {
  readonly stallMs: number;
  readonly signal: AbortSignal | undefined;
}

export function throughProxies(
  { proxyFor }: Pick<RegistrySettings, 'proxyFor'>,
  stallMs: number,
): NonNullable<HubAccess['connect']> {
  return async (url, signal) => {
    const proxy = proxyFor(url);
    return proxy === null ? null : openTunnel(proxy, url, { stallMs, signal });
  };
}

async function openTunnel(proxy: URL, target: URL, options: TunnelOptions): Promise<Socket | TLSSocket> {
  const socket = await openSocket(proxy, target, options);
  if (target.protocol !== 'https:') return socket;
  return connect({ socket, servername: target.hostname });
}

function openSocket(proxy: URL, target: URL, { stallMs, signal }: TunnelOptions): Promise<Socket> {
  const port = target.port === '' ? (target.protocol === 'https:' ? 443 : 80) : target.port;
  const user = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  const credentials =
    user === ':' ? {} : { 'proxy-authorization': `Basic ${Buffer.from(user).toString('base64')}` };
  return new Promise((resolve, reject) => {
    const asked = request({
      method: 'CONNECT',
      host: proxy.hostname,
      port: proxy.port === '' ? 80 : proxy.port,
      path: `${target.hostname}:${port}`,
      headers: { host: `${target.hostname}:${port}`, ...credentials },
      agent: false,
      timeout: stallMs,
      ...(signal === undefined ? {} : { signal }),
    });
    const refused = (status: number | undefined): Error =>
      new Error(`the proxy ${proxy.host} answered ${status}`);
    asked.on('connect', ({ statusCode }, socket) => {
      if (statusCode === 200) return resolve(socket);
      socket.destroy();
      reject(refused(statusCode));
    });
    asked.on('response', (answer) => {
      answer.destroy();
      reject(refused(answer.statusCode));
    });
    asked.on('timeout', () => asked.destroy(new Error(`the proxy ${proxy.host} does not answer`)));
    asked.on('error', reject);
    asked.end();
  });
}
