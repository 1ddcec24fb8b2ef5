import type { IncomingMessage } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { Turnstile } from './turnstile.ts';

const asked = (method: string, socket: object = {}): IncomingMessage =>
  ({ method, socket }) as unknown as IncomingMessage;

function stand() {
  const clock = new ManualClock();
  const turnstile = new Turnstile(clock);
  const begun: string[] = [];
  const arrive = (name: string, request: IncomingMessage): void => {
    const wait = turnstile.turn(request);
    if (wait === undefined) begun.push(name);
    else void wait.then(() => begun.push(name));
  };
  return { clock, turnstile, begun, arrive };
}

describe('the turnstile', () => {
  it('begins one request in each turn, and lets probes pass', async () => {
    const { begun, arrive } = stand();
    for (const name of ['a', 'b', 'c']) arrive(name, asked('POST'));
    arrive('probe', asked('GET'));
    expect(begun).toEqual(['a', 'probe']);
    await turn();
    expect(begun).toEqual(['a', 'probe', 'b']);
    await turn();
    expect(begun).toEqual(['a', 'probe', 'b', 'c']);
  });

  it('makes pipelined probes of one socket wait as well', async () => {
    const { begun, arrive } = stand();
    const socket = {};
    for (const name of ['a', 'b']) arrive(name, asked('GET', socket));
    arrive('c', asked('GET', socket));
    expect(begun).toEqual(['a', 'b']);
    await turn();
    expect(begun).toEqual(['a', 'b', 'c']);
  });

  it('holds back who was let in while others are turned away, but not for long', async () => {
    const { clock, turnstile, begun, arrive } = stand();
    for (const name of ['a', 'b', 'c']) arrive(name, asked('POST'));
    turnstile.hold();
    for (let ms = 0; ms < 15; ms += 5) {
      await turn();
      expect(begun).toEqual(['a']);
      await clock.advance(5);
    }
    await turn();
    expect(begun).toEqual(['a', 'b']);
    await turn();
    expect(begun).toEqual(['a', 'b']);
    await clock.advance(50);
    await turn();
    expect(begun).toEqual(['a', 'b', 'c']);
  });
});
