/**
 * In a rush of connections, and while chats are turned away, looks at the first bytes of each connection before node:http
 * does, and answers those that the door would refuse. That costs half of what node:http would take, and in a flood
 * everybody waits for all that came before. What is let in, or is unusual in any way, goes to node:http untouched.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../../lib/base/clock.ts';
import { HTTP_LIMITS } from '../limits.ts';
import type { Door } from './door.ts';
import { readPlainHead } from './plain-head.ts';
import { rawAnswer } from './raw-answer.ts';

const HEAD_LIMITS = { maxBytes: HTTP_LIMITS.maxHeaderBytes, maxHeaders: HTTP_LIMITS.maxHeaders };

export interface Doorstep {
  /** A request was turned away just now. */
  onTurnedAway(): void;
}

/** Stands before the listener with which node:http takes connections. */
export function watchDoorstep(server: Server, door: Door, clock: Clock): Doorstep {
  const [take] = server.listeners('connection') as ((socket: Socket) => void)[];
  if (take === undefined) throw new Error('there is nobody who takes connections');
  server.removeAllListeners('connection');
  const inside = (socket: Socket): void => take.call(server, socket);
  const rush = new Rush(clock);
  server.on('connection', (socket: Socket) => {
    if (!rush.includes()) return inside(socket);
    look(socket, { door, clock, inside });
  });
  return { onTurnedAway: () => rush.goesOn() };
}

/** When connections are looked at: many came within a moment, or somebody was turned away. */
class Rush {
  readonly #clock: Clock;
  #untilMs = -Infinity;
  #momentEndsMs = -Infinity;
  #connections = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  goesOn(): void {
    this.#untilMs = this.#clock.monotonicMs() + HTTP_LIMITS.watchDoorstepMs;
  }

  /** Whether a connection that was made just now belongs to it. */
  includes(): boolean {
    const now = this.#clock.monotonicMs();
    if (now > this.#momentEndsMs) {
      this.#connections = 0;
      this.#momentEndsMs = now + HTTP_LIMITS.momentMs;
    }
    this.#connections += 1;
    return this.#connections > HTTP_LIMITS.rushConnections || now < this.#untilMs;
  }
}

interface Looking {
  readonly door: Door;
  readonly clock: Clock;
  inside(socket: Socket): void;
}

function look(socket: Socket, { door, clock, inside }: Looking): void {
  const letIn = (bytes?: Buffer): void => {
    stopLooking();
    if (bytes !== undefined) socket.unshift(bytes);
    // The deadlines of node:http for a head and a body begin now.
    inside(socket);
    socket.resume();
  };
  const onBytes = (bytes: Buffer): void => {
    const head = readPlainHead(bytes, HEAD_LIMITS);
    const answer = head === null ? null : door.answer(head, socket.remoteAddress);
    if (head === null || answer === null) return letIn(bytes);
    stopLooking();
    socket.on('error', () => {});
    turnAway(socket, rawAnswer(answer), { clock, isWhole: bytes.length >= head.headBytes + head.bodyBytes });
  };
  const onEnd = (): void => letIn();
  const onError = (): void => {};
  const cancel = clock.after(HTTP_LIMITS.doorstepPatienceMs, letIn);
  const stopLooking = (): void => {
    cancel();
    socket.off('data', onBytes).off('end', onEnd).off('error', onError).off('close', cancel).pause();
  };
  socket.on('data', onBytes).on('end', onEnd).on('error', onError).on('close', cancel);
}

/** A socket that is closed with bytes unread resets the connection, and the answer may be lost: they are let pass first. */
function turnAway(
  socket: Socket,
  answer: string,
  { clock, isWhole }: { readonly clock: Clock; readonly isWhole: boolean },
): void {
  socket.end(answer);
  if (isWhole) return socket.destroySoon();
  socket.resume();
  socket.once(
    'close',
    clock.after(HTTP_LIMITS.closeGraceMs, () => socket.destroy()),
  );
}
