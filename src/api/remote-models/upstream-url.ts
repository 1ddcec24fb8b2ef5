/** The address of an upstream as its user writes it, and who can read what is sent there. Pure. */
import { BlockList, isIP } from 'node:net';
import type { Privacy } from '../../contract/settings/privacy.ts';
import { fail } from '../../lib/errors/svc-error.ts';

/** A URL without a path gets OpenAI's; throws where it is not usable. */
export function readUpstreamUrl(text: string): string {
  let url: URL;
  try {
    url = new URL(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`);
  } catch {
    throw refuse('is not a URL; write for example http://10.0.0.5:8000');
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw refuse('must begin with http:// or https://');
  if (url.username !== '' || url.password !== '')
    throw refuse('must not hold a key; name a variable with --key-env, or a file with --key-file');
  if (url.search !== '' || url.hash !== '') throw refuse('must end with its path');
  const path = url.pathname.replace(/\/+$/, '').replace(/\/(?:chat\/completions|completions|models)$/, '');
  return `${url.origin}${path === '' ? '/v1' : path}`;
}

const OWN_NETWORK = new BlockList();
for (const [address, bits] of [
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['169.254.0.0', 16],
  ['100.64.0.0', 10],
] as const)
  OWN_NETWORK.addSubnet(address, bits);
OWN_NETWORK.addSubnet('fc00::', 7, 'ipv6');
OWN_NETWORK.addSubnet('fe80::', 10, 'ipv6');

/** What an address says; names of the public network count as remote. */
export function addressPrivacy(baseUrl: string): Privacy {
  const host = new URL(baseUrl).hostname.replace(/^\[|\]$/g, '').toLowerCase();
  if (host === 'localhost' || host === '::1' || host.startsWith('127.')) return 'local';
  const version = isIP(host);
  if (version !== 0) return OWN_NETWORK.check(host, version === 6 ? 'ipv6' : 'ipv4') ? 'lan' : 'remote';
  return !host.includes('.') || /\.(?:local|lan|internal|home\.arpa)$/.test(host) ? 'lan' : 'remote';
}

const refuse = (what: string): Error =>
  fail('invalid_request', { param: 'url', message: `The URL of an upstream ${what}.` });
