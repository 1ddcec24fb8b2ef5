import { mergePatch } from '../../../lib/base/merge-patch.ts';

export interface LoggedPatch {
  readonly number: number;
  readonly json: string;
}

/** Limits for patches and their characters: 15 seconds of a busy engine. */
const MOST_PATCHES = 64;
const MOST_CHARS = 1024 * 1024;

export class PatchLog<State extends object> {
  #state: State;
  #number: number;
  #patches: LoggedPatch[] = [];
  #chars = 0;

  /** `number` is the first state's. A new log continues the count, so that a number never means two states. */
  constructor(state: State, number: number) {
    this.#state = state;
    this.#number = number;
  }

  get state(): State {
    return this.#state;
  }

  get number(): number {
    return this.#number;
  }

  push(state: State, stamp: Partial<State> = {}): boolean {
    const patch = mergePatch({ ...this.#state, ...stamp }, { ...state, ...stamp });
    this.#state = { ...state, ...stamp };
    if (patch === undefined) return false;
    this.#number += 1;
    const json = JSON.stringify({ ...stamp, ...(patch as object) });
    this.#patches.push({ number: this.#number, json });
    this.#chars += json.length;
    while (this.#patches.length > MOST_PATCHES || this.#chars > MOST_CHARS)
      this.#chars -= this.#patches.shift()?.json.length ?? 0;
    return true;
  }

  since(number: number): readonly LoggedPatch[] | null {
    if (number > this.#number) return null;
    const missed = this.#number - number;
    return missed > this.#patches.length ? null : this.#patches.slice(this.#patches.length - missed);
  }
}
