import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import net from 'node:net';

/** A port of 127.0.0.1 that nobody has, below those that the system gives out by itself: it stays free until it is used. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(15_000, 32_000);
    const probe = net.createServer().listen(port, '127.0.0.1');
    const isFree = await once(probe, 'listening').then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    probe.close();
    await once(probe, 'close');
    return port;
  }
}
