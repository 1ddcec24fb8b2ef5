/** The last changes of a state, numbered, as a reader that lost its connection asks for them. Bounded, and pure. */
import { mergePatch } from '../../lib/base/merge-patch.ts';

export interface LoggedPatch {
  readonly number: number;
  /** A JSON merge patch. */
  readonly json: string;
}

/** Changes and their characters that are kept: a quarter of a minute of a busy engine. */
const MOST_PATCHES = 64;
const MOST_CHARS = 1024 * 1024;

export class PatchLog<State extends object> {
  #state: State;
  #number: number;
  #patches: LoggedPatch[] = [];
  #chars = 0;

  /** `number` names the first state; a log that begins anew goes on counting, so that no number means two states. */
  constructor(state: State, number: number) {
    this.#state = state;
    this.#number = number;
  }

  get state(): State {
    return this.#state;
  }

  /** Of the present state. */
  get number(): number {
    return this.#number;
  }

  /** The next state; false when nothing of it is news. `stamp` members are told along, and are no news by themselves. */
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

  /** What came after the state of that number, in order; null when that is not known any more. */
  since(number: number): readonly LoggedPatch[] | null {
    if (number > this.#number) return null;
    const missed = this.#number - number;
    return missed > this.#patches.length ? null : this.#patches.slice(this.#patches.length - missed);
  }
}
