/** The log of a flood: its first refusal in a line of its own, and from then on a line each second with the count. */
import type { Clock } from '../../lib/base/clock.ts';
import type { Logger } from '../../lib/base/logger.ts';
import type { TurnedAway } from './door.ts';

const EVERY_MS = 1_000;

export class RefusalLog {
  readonly #log: Logger;
  readonly #clock: Clock;
  #refused = 0;
  readonly #clients = new Set<string>();
  #isCounting = false;

  constructor(log: Logger, clock: Clock) {
    this.#log = log;
    this.#clock = clock;
  }

  add({ route, status, code, client }: TurnedAway): void {
    if (this.#isCounting) {
      this.#refused += 1;
      this.#clients.add(client);
      return;
    }
    this.#log.warn({ method: 'POST', route, status, error: code, client }, 'request failed');
    this.#isCounting = true;
    this.#clock.after(EVERY_MS, this.#tell);
  }

  readonly #tell = (): void => {
    const refused = this.#refused;
    this.#isCounting = refused > 0;
    if (refused === 0) return;
    this.#log.warn({ refused, clients: this.#clients.size }, 'further requests failed: the queue is full');
    this.#refused = 0;
    this.#clients.clear();
    this.#clock.after(EVERY_MS, this.#tell);
  };
}
