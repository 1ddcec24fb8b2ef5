/**
 * Addresses that a request to a hub may reach. Every hop of every redirect is checked, and connections use the lookup
 * of this file, so that the checked address is the one connected to (no DNS rebinding).
 */
import { lookup as systemLookup, type LookupAddress } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { callbackify } from 'node:util';
import { fail } from '../../lib/errors/svc-error.ts';

export type ResolveAll = (hostname: string) => Promise<readonly LookupAddress[]>;

export interface HopPolicy {
  /** The only origin that may be private, and the only one that gets credentials. */
  readonly endpoint: URL;
  readonly trustedHosts: readonly string[];
  readonly resolveAll: ResolveAll;
}

// One list per family: a single list would match every IPv4 address against the mapped range of IPv6.
const notPublic4 = new BlockList();
const notPublic6 = new BlockList();
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const)
  notPublic4.addSubnet(network, prefix, 'ipv4');
// Ranges that contain an IPv4 address are refused as a whole, except NAT64, which whole networks depend on.
for (const [network, prefix] of [
  ['::', 96],
  ['::ffff:0:0', 96],
  ['64:ff9b:1::', 48],
  ['100::', 64],
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
] as const)
  notPublic6.addSubnet(network, prefix, 'ipv6');

export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !notPublic4.check(address, 'ipv4');
  if (family !== 6) return false;
  const embedded = nat64Target(address);
  return embedded === null ? !notPublic6.check(address, 'ipv6') : isPublicAddress(embedded);
}

function nat64Target(address: string): string | null {
  // The URL parser writes an address in its shortest form.
  const [, tail] = /^\[64:ff9b::([0-9a-f:]*)\]$/.exec(new URL(`http://[${address}]`).hostname) ?? [];
  if (tail === undefined) return null;
  const groups = tail.split(':').map((group) => Number.parseInt(group || '0', 16));
  if (groups.length > 2) return null;
  const [low = 0, high = 0] = groups.reverse();
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

export const resolveWithSystem: ResolveAll = (hostname) =>
  new Promise((resolve, reject) => {
    systemLookup(hostname, { all: true }, (error, addresses) => (error ? reject(error) : resolve(addresses)));
  });

export function checkHop(policy: HopPolicy, url: URL): void {
  const refuse = (reason: string) => fail('hub_refused', { url: shownUrl(url), reason });
  const host = bareHost(url);
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw refuse(`${url.protocol} is not a web address`);
  if (url.protocol === 'http:' && !(isTrusted(policy, url) && isLoopbackName(host)))
    throw refuse('it is not encrypted; only a configured hub on this machine may use http');
  if (url.username || url.password) throw refuse('it contains credentials');
  if (isIP(host) && !isPublicAddress(host) && !isTrusted(policy, url))
    throw refuse('it is an address in a private network');
}

/**
 * Fails if any address of the name is private, unless the host is trusted. Node calls it for names only; checkHop
 * checks literal addresses.
 */
export function guardedLookup(policy: HopPolicy, url: URL): LookupFunction {
  return (hostname, options, callback) =>
    callbackify(checkedAddresses)(policy, url, hostname, (error, addresses) => {
      if (error) return callback(error, '', 0);
      const [first, ...rest] = addresses;
      if (options.all) callback(null, [first, ...rest]);
      else callback(null, first.address, first.family);
    });
}

async function checkedAddresses(
  policy: HopPolicy,
  url: URL,
  hostname: string,
): Promise<readonly [LookupAddress, ...LookupAddress[]]> {
  const [first, ...rest] = await policy.resolveAll(hostname);
  if (!first) throw Object.assign(new Error(`${hostname} has no address`), { code: 'ENOTFOUND' });
  const forbidden = [first, ...rest].find(({ address }) => !isPublicAddress(address));
  if (forbidden && !isTrusted(policy, url)) {
    throw fail('hub_refused', {
      url: shownUrl(url),
      reason: `${hostname} is ${forbidden.address}, an address in a private network`,
    });
  }
  return [first, ...rest];
}

function isTrusted({ endpoint, trustedHosts }: HopPolicy, url: URL): boolean {
  return url.origin === endpoint.origin || trustedHosts.includes(url.host);
}

function isLoopbackName(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host);
}

function bareHost(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1');
}

/** Without the query, where signed links have their secrets. */
export function shownUrl(url: URL): string {
  return `${url.origin === 'null' ? url.protocol : url.origin}${url.pathname}`.slice(0, 300);
}
