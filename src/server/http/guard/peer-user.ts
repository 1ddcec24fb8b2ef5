/** The local user at the other end of a connection: Linux lists the user that opened each TCP socket. */
import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { isIPv4 } from 'node:net';
import { endianness } from 'node:os';
import { isLocalSocket } from '../listen/local-socket.ts';

export interface Connection {
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
  readonly localAddress?: string | undefined;
  readonly localPort?: number | undefined;
}

const TABLES = ['/proc/net/tcp', '/proc/net/tcp6'] as const;
const ESTABLISHED = '01';

/** Headers that a proxy adds; the proxy's own user proves nothing about the original client. */
const FORWARDED = [
  'forwarded',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip',
];

export async function isOwnUser({ socket, headers }: IncomingMessage): Promise<boolean> {
  if (FORWARDED.some((name) => headers[name] !== undefined)) return false;
  if (isLocalSocket(socket)) return true;
  const own = process.getuid?.();
  return own !== undefined && (await peerUser(socket)) === own;
}

export async function peerUser(connection: Connection): Promise<number | null> {
  const { remoteAddress, remotePort, localAddress, localPort } = connection;
  if (remoteAddress === undefined || remotePort === undefined) return null;
  if (localAddress === undefined || localPort === undefined) return null;
  const theirs = endName(remoteAddress, remotePort);
  const ours = endName(localAddress, localPort);
  for (const table of TABLES) {
    const text = await readFile(table, 'latin1').catch(() => '');
    const user = userIn(text, theirs, ours);
    if (user !== null) return user;
  }
  return null;
}

/** A socket that its program has closed has no user any more, and the table shows 0. */
export function userIn(table: string, theirs: string, ours: string): number | null {
  for (const line of table.split('\n').slice(1)) {
    const [, local = '', remote = '', state, , , , user, , inode] = line.trim().split(/\s+/);
    if (state !== ESTABLISHED || inode === '0') continue;
    if (decoded(local) === theirs && decoded(remote) === ours) return Number(user);
  }
  return null;
}

export function endName(address: string, port: number): string {
  const [plain = ''] = address.split('%');
  return `${new URL(`http://[${isIPv4(plain) ? `::ffff:${plain}` : plain}]`).hostname} ${port}`;
}

/** Decodes an end of the table: 32-bit words in the byte order of the machine, then the port. */
function decoded(end: string): string {
  const [hex = '', port = ''] = end.split(':');
  const words = Buffer.from(hex, 'hex');
  if (words.length !== 4 && words.length !== 16) return '';
  if (endianness() === 'LE') words.swap32();
  const address =
    words.length === 4 ? words.join('.') : (words.toString('hex').match(/.{4}/g) ?? []).join(':');
  return endName(address, Number.parseInt(port, 16));
}
