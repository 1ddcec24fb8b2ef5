import type { NativeContext } from '../native.ts';
import type { Sized, StepLimits } from './step-inputs.ts';

export interface ParallelLimits extends StepLimits {
  readonly parallel: readonly NativeContext[];
  readonly longestParallel: number;
}

interface PlannedStep {
  readonly limits: ParallelLimits;
  readonly inputs: readonly { readonly input: Sized }[];
}

export interface Place {
  readonly context: NativeContext;
  readonly threads: number;
}

export class ParallelInputs {
  readonly #threads: number;
  readonly #begun = new Set<Place>();

  constructor(threads: number) {
    this.#threads = threads;
  }

  get steps(): number {
    return this.#begun.size;
  }

  /**
   * Whether a step shares the threads. It does not if it is the only one, or if it is long and keeps all threads
   * busy.
   */
  takes({ limits, inputs: [first, second] }: PlannedStep, waiting: number): boolean {
    if (first === undefined || second !== undefined || this.#most(limits) < 2) return false;
    return first.input.tokens.length <= limits.longestParallel && this.steps + waiting > 0;
  }

  hasRoom(limits: ParallelLimits): boolean {
    return this.steps < this.#most(limits) && this.#free > 0;
  }

  begin(limits: ParallelLimits, waiting: number): Place {
    const taken = [...this.#begun].map((place) => place.context);
    const context = limits.parallel.find((each) => !taken.includes(each));
    if (context === undefined) throw new Error('no context is free for another step');
    const places = this.#most(limits) - taken.length;
    const threads = Math.floor(this.#free / Math.min(places, waiting + 1));
    const place = { context, threads };
    this.#begun.add(place);
    return place;
  }

  end(place: Place): void {
    this.#begun.delete(place);
  }

  get #free(): number {
    return [...this.#begun].reduce((free, { threads }) => free - threads, this.#threads);
  }

  #most({ parallel }: ParallelLimits): number {
    return Math.min(parallel.length, this.#threads);
  }
}
