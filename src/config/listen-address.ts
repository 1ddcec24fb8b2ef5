/**
 * Parses SVC_HOST as other local servers do: `host`, `:port`, `host:port`, `http://host:port/path`, `[::1]:port`.
 * The same variable serves the server and the CLI.
 */
export interface ListenAddress {
  readonly host: string;
  /** Undefined when the text names none. */
  readonly port: number | undefined;
}

/** Returns undefined when the text is no address. */
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

/** True for addresses that only this machine can reach. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host);
}

export interface OwnNames {
  /** Addresses of all its interfaces. */
  readonly addresses: readonly string[];
  readonly hostName: string;
}

/**
 * Names in the Host header of requests for a service that is bound to this address, lower case, IPv6 in brackets. A service on
 * all addresses asks for a key, so no web page gains anything by another name for them. Pure.
 */
export function ownHosts(host: string, { addresses, hostName }: OwnNames): string[] {
  if (!isWildcard(host)) return [inHostHeader(host)];
  const name = hostName.toLowerCase();
  const short = name.split('.', 1)[0] ?? '';
  const names = [name, short, `${short}.local`].filter((each) => /^[a-z0-9_-]/.test(each));
  return [...new Set([...addresses.map(inHostHeader), ...names])];
}

export const isWildcard = (host: string): boolean => host === '0.0.0.0' || host === '::';

/** Without the zone of a link-local address, which no client sends. */
const inHostHeader = (address: string): string => {
  const plain = address.replace(/%.*$/, '').toLowerCase();
  return plain.includes(':') ? `[${plain}]` : plain;
};

/** The host a client on this machine connects to: a wildcard bind is reached over loopback. */
export function clientHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  return host === '::' ? '::1' : host;
}

/** The origin of a service, which is given a host and not a wildcard. */
export function serviceOrigin(scheme: 'http' | 'https', host: string, port: number): string {
  return `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
