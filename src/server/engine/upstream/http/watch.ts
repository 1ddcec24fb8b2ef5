/** Deadlines of one call. One timer, set again only when it fires, so that a piece of an answer costs none. */
import type { Clock } from '../../../../lib/base/clock.ts';
import { fail, type SvcError } from '../../../../lib/errors/svc-error.ts';
import type { Deadlines } from '../ports.ts';

type Phase = 'connect' | 'first_byte' | 'stall';

export class Watch {
  readonly #clock: Clock;
  readonly #deadlines: Deadlines;
  readonly #upstream: string;
  readonly #onExpired: () => void;
  #phase: Phase = 'connect';
  #sinceMs: number;
  #isHeld = false;
  #cancel: () => void = () => {};
  readonly #cancelWhole: () => void;
  expired: SvcError | null = null;

  constructor(
    clock: Clock,
    { upstream, deadlines }: { readonly upstream: string; readonly deadlines: Deadlines },
    onExpired: () => void,
  ) {
    this.#clock = clock;
    this.#deadlines = deadlines;
    this.#upstream = upstream;
    this.#onExpired = onExpired;
    this.#sinceMs = clock.monotonicMs();
    this.#cancelWhole = clock.after(deadlines.wholeMs, () =>
      this.#expire(this.#late('whole', deadlines.wholeMs)),
    );
    this.#arm();
  }

  connected(): void {
    if (this.#phase === 'connect') this.#enter('first_byte');
  }

  began(): void {
    if (this.#phase !== 'stall') this.#enter('stall');
  }

  alive(): void {
    if (this.#phase === 'stall') this.#sinceMs = this.#clock.monotonicMs();
  }

  /** The reader is busy: this time does not count against the upstream. */
  hold(): void {
    this.#isHeld = true;
  }

  go(): void {
    this.#isHeld = false;
    this.alive();
  }

  end(): void {
    this.#cancel();
    this.#cancelWhole();
  }

  #enter(phase: Phase): void {
    this.#phase = phase;
    this.#sinceMs = this.#clock.monotonicMs();
    this.#cancel();
    this.#arm();
  }

  #limitMs(): number {
    const { connectMs, firstByteMs, stallMs } = this.#deadlines;
    return { connect: connectMs, first_byte: firstByteMs, stall: stallMs }[this.#phase];
  }

  #arm(): void {
    const leftMs = this.#sinceMs + this.#limitMs() - this.#clock.monotonicMs();
    this.#cancel = this.#clock.after(Math.max(1, leftMs), () => this.#check());
  }

  #check(): void {
    const limitMs = this.#limitMs();
    if (this.#isHeld) this.alive();
    if (this.#clock.monotonicMs() - this.#sinceMs < limitMs) return this.#arm();
    this.#expire(
      this.#phase === 'connect'
        ? fail('upstream_unreachable', {
            upstream: this.#upstream,
            reason: `no connection within ${limitMs / 1000} s`,
          })
        : this.#late(this.#phase, limitMs),
    );
  }

  #late(phase: string, limitMs: number): SvcError {
    return fail('upstream_timeout', { upstream: this.#upstream, phase, seconds: limitMs / 1000 });
  }

  #expire(error: SvcError): void {
    this.end();
    this.expired ??= error;
    this.#onExpired();
  }
}
