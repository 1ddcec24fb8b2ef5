/** Whose connection it is, asked of the system: real sockets of this process, and of another user where this one may become it. */
import { networkInterfaces } from 'node:os';
import { execFile } from 'node:child_process';
import { createServer, connect, type AddressInfo, type Server } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { endName, peerUser, userIn } from './peer-user.ts';

const OTHER_USER = 65_534;
const own = process.getuid?.() ?? -1;
const isLinux = process.platform === 'linux';

/** What the server finds of the first connection that comes. */
async function listening(host: string): Promise<{ port: number; found: Promise<number | null> }> {
  let tell: (user: Promise<number | null>) => void;
  const found = new Promise<number | null>((resolve) => (tell = resolve));
  const server: Server = createServer((socket) => {
    const user = peerUser(socket);
    tell(user);
    void user.finally(() => socket.destroy());
  });
  await new Promise<void>((resolve) => void server.listen(0, host, resolve));
  onTestFinished(() => void server.close());
  return { port: (server.address() as AddressInfo).port, found };
}

const hasIpv6 = Object.values(networkInterfaces()).some((all = []) =>
  all.some(({ address }) => address === '::1'),
);

describe.runIf(isLinux)('the user of a connection', () => {
  it.for([
    ['127.0.0.1', '127.0.0.1'],
    ['::', '127.0.0.1'],
    ['::', '::1'],
    ['::', '::ffff:127.0.0.1'],
  ] as const)('is found on %s from %s', async ([host, to], { skip }) => {
    skip(host === '::' && !hasIpv6, 'IPv6 is off here');
    const { port, found } = await listening(host);
    const client = connect(port, to);
    client.on('error', () => {});
    expect(await found).toBe(own);
    client.destroy();
  });

  it.skipIf(own !== 0)(
    'is another user where another user asks (needs root: skipped otherwise)',
    async () => {
      const { port, found } = await listening('127.0.0.1');
      const script = `require('node:net').connect(${port}, '127.0.0.1').on('close', () => {})`;
      const client = execFile(process.execPath, ['-e', script], { uid: OTHER_USER, gid: OTHER_USER });
      expect(await found).toBe(OTHER_USER);
      client.kill();
    },
  );
});

describe('the table of sockets', () => {
  const HEAD =
    '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode';
  const line = (state: string, inode = '84453') =>
    `   1: 0100007F:AD19 0100007F:2224 ${state} 00000000:00000000 00:00000000 00000000  1001        0 ${inode} 1 0 20 4 30 10 -1`;
  const ask = (...lines: string[]) =>
    userIn([HEAD, ...lines].join('\n'), endName('127.0.0.1', 0xad19), endName('127.0.0.1', 0x2224));

  it('has the user of the end that asks', () => {
    expect(ask(line('01'))).toBe(1001);
  });

  it.each([
    ['a closed one', line('06', '0')],
    ['one that only waits to be forgotten', line('05')],
    ['one without a program', line('01', '0')],
    [
      'the end of the service',
      line('01').replace('0100007F:AD19 0100007F:2224', '0100007F:2224 0100007F:AD19'),
    ],
    ['another port', line('01').replace('AD19', 'AD1A')],
    ['half a line', '   1: 0100007F:AD19'],
    ['no address', '   1: XX 0100007F:2224 01'],
  ])('has none for %s', (_, text) => {
    expect(ask(text)).toBeNull();
  });
});

it('is nobody where the other end is not on this machine', async () => {
  const far = { remoteAddress: '192.0.2.1', remotePort: 4000, localAddress: '192.0.2.2', localPort: 80 };
  expect(await peerUser(far)).toBeNull();
  expect(await peerUser({})).toBeNull();
});
