import type { IncomingMessage } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { RequestPacer } from './request-pacer.ts';

const request = (method: string, socket: object = {}): IncomingMessage =>
  ({ method, socket }) as unknown as IncomingMessage;

function paced() {
  const pacer = new RequestPacer();
  const begun: string[] = [];
  const arrive = (name: string, arrived: IncomingMessage): void => {
    const wait = pacer.acquire(arrived);
    if (wait === undefined) begun.push(name);
    else void wait.then(() => begun.push(name));
  };
  return { begun, arrive };
}

describe('requests that arrive at once', () => {
  it('begin one in each turn, in their order, and let probes pass', async () => {
    const { begun, arrive } = paced();
    for (const name of ['a', 'b', 'c']) arrive(name, request('POST'));
    arrive('probe', request('GET'));
    expect(begun).toEqual(['a', 'probe']);
    await turn();
    expect(begun).toEqual(['a', 'probe', 'b']);
    await turn();
    expect(begun).toEqual(['a', 'probe', 'b', 'c']);
    await turn();
    arrive('d', request('POST'));
    expect(begun.at(-1)).toBe('d');
  });

  it('wait as well where they are pipelined probes of one socket', async () => {
    const { begun, arrive } = paced();
    const socket = {};
    for (const name of ['a', 'b']) arrive(name, request('GET', socket));
    arrive('c', request('GET', socket));
    expect(begun).toEqual(['a', 'b']);
    await turn();
    expect(begun).toEqual(['a', 'b', 'c']);
  });
});
