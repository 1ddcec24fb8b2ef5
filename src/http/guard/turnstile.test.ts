import type { IncomingMessage } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { routes } from '../../wire/routes.ts';
import { Turnstile } from './turnstile.ts';

const chat = (socket: object = {}): IncomingMessage =>
  ({ method: 'POST', url: routes.chatCompletions.path, socket }) as unknown as IncomingMessage;
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

  it('holds back chats that were let in while others are turned away, but not for long', async () => {
    const { clock, turnstile, begun, arrive } = stand();
    for (const name of ['a', 'b', 'c']) arrive(name, chat());
    turnstile.hold();
    for (let ms = 0; ms < 40; ms += 10) {
      await turn();
      expect(begun).toEqual(['a']);
      await clock.advance(10);
    }
    await turn();
    expect(begun).toEqual(['a', 'b']);
    await clock.advance(9);
    await turn();
    expect(begun).toEqual(['a', 'b']);
    await clock.advance(1);
    await turn();
    expect(begun).toEqual(['a', 'b', 'c']);
  });

  it('does not hold back what waits for no slot, nor let it keep chats out', async () => {
    const { turnstile, begun, arrive } = stand();
    for (const name of ['chat a', 'chat b']) arrive(name, chat());
    turnstile.hold();
    await turn();
    for (const name of ['a', 'b', 'c']) arrive(name, asked('POST'));
    expect(begun).toEqual(['chat a', 'a']);
    await turn();
    expect(begun).toEqual(['chat a', 'a', 'b']);
    await turn();
    expect(begun).toEqual(['chat a', 'a', 'b', 'c']);
  });

  it('spends no place on chats whose client has gone', async () => {
    const { clock, turnstile, begun, arrive } = stand();
    const gone = { destroyed: true };
    arrive('a', chat());
    for (const name of ['gone 1', 'gone 2']) arrive(name, chat(gone));
    arrive('b', chat());
    turnstile.hold();
    await turn();
    expect(begun).toEqual(['a', 'gone 1', 'gone 2']);
    await clock.advance(40);
    await turn();
    expect(begun).toEqual(['a', 'gone 1', 'gone 2', 'b']);
  });

  it('takes turns between chats and all else', async () => {
    const { begun, arrive } = stand();
    for (const name of ['1', '2', '3']) arrive(name, asked('POST'));
    for (const name of ['chat a', 'chat b']) arrive(name, chat());
    for (let turns = 0; turns < 4; turns += 1) await turn();
    expect(begun).toEqual(['1', 'chat a', '2', 'chat b', '3']);
  });
});
