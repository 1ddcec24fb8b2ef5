/**
 * Takes turns on the event loop: of many requests that arrive at once, one begins in each turn, so that what is asked in
 * between (a probe, a token of a stream) waits for one of them and not for all. While others are turned away, chats that
 * were let in wait a little: they wait for a slot in any case, and a refusal costs a tenth of what they do.
 */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../../lib/base/clock.ts';
import { waitsForSlot } from './door.ts';

/** After the last refusal. */
const HOLD_MS = 50;
/**
 * Between two chats that begin, whatever is refused meanwhile. One costs some milliseconds, so that this is a tenth of the
 * thread; and few models answer more than 25 chats a second.
 */
const LONGEST_HOLD_MS = 40;

/** By socket: the turn in which its last request began. */
const begun = new WeakMap<object, number>();

export class Turnstile {
  readonly #clock: Clock;
  /** Chats, which are held back in a flood, and all else. */
  readonly #chats: { readonly begin: () => void; readonly socket: Socket }[] = [];
  readonly #others: (() => void)[] = [];
  #isTurning = false;
  #turnNumber = 0;
  #heldUntilMs = -Infinity;
  #lastChatMs = -Infinity;
  /** The last to begin was a chat; where both wait, they take turns. */
  #wasChat = false;
  /** Set while only chats wait and none may begin yet: calls off the end of that. */
  #wake: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Undefined: it may go on at once. A probe on a socket of its own never waits. */
  readonly turn = (request: IncomingMessage): Promise<void> | undefined => {
    if (!this.#hasToQueue(request)) return undefined;
    const isChat = waitsForSlot(request);
    const isFree = !this.#isTurning || (this.#wake !== undefined && !isChat);
    if (isFree) {
      this.#wake?.();
      this.#wake = undefined;
      this.#isTurning = true;
      this.#begins(isChat);
      setImmediate(this.#next);
      return undefined;
    }
    const { socket } = request;
    return new Promise((begin) => {
      if (isChat) this.#chats.push({ begin, socket });
      else this.#others.push(begin);
    });
  };

  /** Somebody was turned away, and more of them are likely to come at once. */
  hold(): void {
    this.#heldUntilMs = this.#clock.monotonicMs() + HOLD_MS;
  }

  #hasToQueue({ method, socket }: IncomingMessage): boolean {
    const seen = begun.get(socket) === this.#turnNumber;
    begun.set(socket, this.#turnNumber);
    // A second request of one socket within a turn is pipelined.
    return seen || method !== 'GET';
  }

  readonly #next = (): void => {
    this.#turnNumber += 1;
    this.#wake = undefined;
    this.#passGone();
    if (this.#chats.length + this.#others.length === 0) {
      this.#isTurning = false;
      return;
    }
    const waitMs = this.#chats.length === 0 ? Infinity : this.#chatsWaitMs();
    const isChat = waitMs <= 0 && (this.#others.length === 0 || !this.#wasChat);
    const begin = isChat ? this.#chats.shift()?.begin : this.#others.shift();
    if (begin === undefined) {
      // Turning on would take the processor from those who answer.
      this.#wake = this.#clock.after(waitMs, this.#next);
      return;
    }
    this.#begins(isChat);
    setImmediate(this.#next);
    begin();
  };

  /** Chats whose client has gone end as soon as they begin, and keep nobody waiting. */
  #passGone(): void {
    const gone = this.#chats.filter(({ socket }) => socket.destroyed);
    if (gone.length === 0) return;
    const alive = this.#chats.filter(({ socket }) => !socket.destroyed);
    this.#chats.splice(0, Infinity, ...alive);
    for (const { begin } of gone) begin();
  }

  #begins(isChat: boolean): void {
    this.#wasChat = isChat;
    if (isChat) this.#lastChatMs = this.#clock.monotonicMs();
  }

  /** How long the next chat is held back from now. */
  #chatsWaitMs(): number {
    const untilMs = Math.min(this.#heldUntilMs, this.#lastChatMs + LONGEST_HOLD_MS);
    return untilMs - this.#clock.monotonicMs();
  }
}
