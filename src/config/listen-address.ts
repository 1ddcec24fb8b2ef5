/**
 * Parses SVC_HOST like other local servers: `host`, `:port`, `host:port`, `http://host:port/path`, `[::1]:port`.
 * Server and CLI read the same variable.
 */
export interface ListenAddress {
  readonly host: string;
  readonly port: number | undefined;
}

export function parseListenAddress(text: string): ListenAddress | undefined {
  const bare = text
    .trim()
    .replace(/^(["'])(.*)\1$/, '$2')
    .trim();
  const scheme = /^(https?):\/\//i.exec(bare)?.[1]?.toLowerCase();
  const rest = bare.replace(/^https?:\/\//i, '').replace(/\/.*$/, '');
  const parts = splitPort(rest);
  if (!parts) return undefined;
  const port = parts.port ?? (scheme === 'http' ? 80 : scheme === 'https' ? 443 : undefined);
  if (port !== undefined && port > 65_535) return undefined;
  return { host: parts.host === '' ? '127.0.0.1' : parts.host, port };
}

function splitPort(rest: string): { host: string; port: number | undefined } | undefined {
  const bracketed = /^\[([0-9a-fA-F:.%]+)\](?::(\d{1,5}))?$/.exec(rest);
  if (bracketed)
    return { host: bracketed[1] ?? '', port: bracketed[2] === undefined ? undefined : Number(bracketed[2]) };
  if ((rest.match(/:/g)?.length ?? 0) > 1)
    return /^[0-9a-fA-F:.%]+$/.test(rest) ? { host: rest, port: undefined } : undefined;

  const plain = /^([A-Za-z0-9._-]*)(?::(\d{1,5}))?$/.exec(rest);
  if (!plain) return undefined;
  return { host: plain[1] ?? '', port: plain[2] === undefined ? undefined : Number(plain[2]) };
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host);
}

export interface OwnNames {
  readonly addresses: readonly string[];
  readonly hostName: string;
}

/**
 * Accepted Host headers of a service on this address, lower case, IPv6 in brackets. A service on all addresses
 * requires a key, so another name for them gains a web page nothing.
 */
export function ownHosts(host: string, { addresses, hostName }: OwnNames): string[] {
  if (!isWildcard(host)) return [inHostHeader(host)];
  const name = hostName.toLowerCase();
  const short = name.split('.', 1)[0] ?? '';
  const names = [name, short, `${short}.local`].filter((each) => /^[a-z0-9_-]/.test(each));
  return [...new Set([...addresses.map(inHostHeader), ...names])];
}

export const isWildcard = (host: string): boolean => host === '0.0.0.0' || host === '::';

/** Removes the zone of a link-local address, which no client sends. */
const inHostHeader = (address: string): string => {
  const plain = address.replace(/%.*$/, '').toLowerCase();
  return plain.includes(':') ? `[${plain}]` : plain;
};

/** A client on this machine reaches a wildcard bind over loopback. */
export function clientHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  return host === '::' ? '::1' : host;
}

/** `host` must not be a wildcard. */
export function serviceOrigin(scheme: 'http' | 'https', host: string, port: number): string {
  return `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
