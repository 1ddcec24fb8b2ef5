/**
 * Runs a grammar over characters. A parser with a list of stacks doubles with each character of an ambiguous grammar;
 * here stacks share common parts: a state is a set of places, each with its set of followers. States are cached, so a
 * known step is one look-up. Every new step is counted, because their number depends on the client's grammar.
 */
import { CHAR, END, type GbnfProgram, RULE } from './gbnf-program.ts';

export const DEAD = -1;
const BOTTOM = -1;
const UNKNOWN = -2;
/** Limit of cached states, return places and steps; a grammar that exceeds it is refused. */
const MAX_STATES = 200_000;
const MAX_STEPS = 8_000_000;

export interface WorkMeter {
  spend(work: number): void;
}

interface State {
  /** Places before a character, each with the set of return places below it. */
  readonly places: Int32Array;
  readonly below: Int32Array;
  readonly accepts: boolean;
  readonly next: Int32Array;
}

export class GbnfStates {
  readonly program: GbnfProgram;
  readonly #states: State[] = [];
  readonly #stateIds = new Map<string, number>();
  readonly #returns: { readonly place: number; readonly below: number }[] = [{ place: BOTTOM, below: -1 }];
  readonly #returnIds = new Map<string, number>();
  readonly #sets: (readonly number[])[] = [[0]];
  readonly #setIds = new Map<string, number>([['0', 0]]);

  constructor(program: GbnfProgram) {
    this.program = program;
  }

  /** Used share of what one grammar may take. */
  get fill(): number {
    const states = (this.#states.length + this.#returns.length) / MAX_STATES;
    return Math.max(states, (this.#states.length * this.program.classes) / MAX_STEPS);
  }

  start(meter: WorkMeter): number {
    const step = new Step(this, meter);
    step.call(this.program.root, 0);
    return step.finish(this.program.nullable[this.program.root] === true);
  }

  accepts(state: number): boolean {
    return this.#states[state]?.accepts ?? false;
  }

  /** The state after a character of the class. */
  after(state: number, charClass: number, meter: WorkMeter): number {
    const from = this.#states[state];
    if (from === undefined) return DEAD;
    const known = from.next[charClass] as number;
    if (known !== UNKNOWN) return known;
    const step = new Step(this, meter);
    for (let at = 0; at < from.places.length; at += 1) {
      const place = from.places[at] ?? 0;
      if (this.program.sets[this.program.of[place] ?? 0]?.[charClass] === 1)
        step.goOn(place + 1, from.below[at] ?? 0);
    }
    meter.spend(from.places.length);
    const after = step.finish(false);
    from.next[charClass] = after;
    return after;
  }

  set(members: Iterable<number>): number {
    const sorted = [...new Set(members)].sort((a, b) => a - b);
    const key = sorted.join(' ');
    const known = this.#setIds.get(key);
    if (known !== undefined) return known;
    this.#sets.push(sorted);
    this.#setIds.set(key, this.#sets.length - 1);
    return this.#sets.length - 1;
  }

  members(set: number): readonly number[] {
    return this.#sets[set] ?? [];
  }

  returnTo(place: number, below: number): number {
    const key = `${place} ${below}`;
    const known = this.#returnIds.get(key);
    if (known !== undefined) return known;
    this.#returns.push({ place, below });
    this.#returnIds.set(key, this.#returns.length - 1);
    return this.#returns.length - 1;
  }

  returned(index: number): { readonly place: number; readonly below: number } {
    return this.#returns[index] ?? { place: BOTTOM, below: -1 };
  }

  state(heads: ReadonlyMap<number, number>, accepts: boolean, meter: WorkMeter): number {
    if (heads.size === 0 && !accepts) return DEAD;
    const places = Int32Array.from(heads.keys()).sort();
    const below = places.map((place) => heads.get(place) ?? 0);
    const key = `${accepts ? '+' : '-'}${places.join(' ')}|${below.join(' ')}`;
    const known = this.#stateIds.get(key);
    if (known !== undefined) return known;
    if (this.fill > 1) meter.spend(Number.POSITIVE_INFINITY);
    const next = new Int32Array(this.program.classes).fill(UNKNOWN);
    this.#states.push({ places, below, accepts, next });
    this.#stateIds.set(key, this.#states.length - 1);
    return this.#states.length - 1;
  }
}

/** One character: first continuations, then rules that begin, callers before their callees. */
class Step {
  readonly #states: GbnfStates;
  readonly #meter: WorkMeter;
  readonly #reached = new Map<number, Set<number>>();
  readonly #called = new Map<number, Set<number>>();
  readonly #heads = new Map<number, Set<number>>();
  readonly #queue: RankQueue;
  #ends = false;
  #work = 0;

  constructor(states: GbnfStates, meter: WorkMeter) {
    this.#states = states;
    this.#meter = meter;
    this.#queue = new RankQueue(states.program.rank);
  }

  goOn(from: number, below: number): void {
    const { kind, of, nullable } = this.#states.program;
    const todo: [number, number][] = [[from, below]];
    for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
      const [place, set] = next;
      if (kind[place] === END) {
        this.#leave(set, todo);
        continue;
      }
      if (!this.#note(this.#reached, place, set)) continue;
      if (kind[place] === RULE && nullable[of[place] ?? 0] === true) todo.push([place + 1, set]);
    }
  }

  call(rule: number, back: number): void {
    if (!this.#called.has(rule)) this.#queue.push(rule);
    this.#note(this.#called, rule, back);
  }

  finish(accepts: boolean): number {
    for (const [place, sets] of this.#reached) this.#begin(place, this.#union(sets));
    this.#callAll();
    const heads = new Map<number, number>();
    for (const [place, sets] of this.#heads) heads.set(place, this.#union(sets));
    this.#meter.spend(this.#work + heads.size);
    return this.#states.state(heads, accepts || this.#ends, this.#meter);
  }

  #leave(set: number, todo: [number, number][]): void {
    if (!this.#note(this.#reached, -1, set)) return;
    for (const index of this.#states.members(set)) {
      const { place, below } = this.#states.returned(index);
      this.#spend();
      if (place === BOTTOM) this.#ends = true;
      else todo.push([place, below]);
    }
  }

  #begin(place: number, below: number): void {
    const { kind, of } = this.#states.program;
    if (kind[place] === CHAR) this.#note(this.#heads, place, below);
    if (place < 0 || kind[place] !== RULE) return;
    const rule = of[place] ?? 0;
    // A rule at the end of another returns to the caller's return place (tail call).
    const backs =
      kind[place + 1] === END ? this.#states.members(below) : [this.#states.returnTo(place + 1, below)];
    for (const back of backs) this.call(rule, back);
  }

  #callAll(): void {
    const { kind, of, nullable, starts } = this.#states.program;
    for (let rule = this.#queue.pop(); rule !== undefined; rule = this.#queue.pop()) {
      const below = this.#states.set(this.#called.get(rule) ?? []);
      for (const start of starts[rule] ?? []) {
        for (let place = start; kind[place] !== END; place += 1) {
          this.#spend();
          this.#begin(place, below);
          if (kind[place] === CHAR || nullable[of[place] ?? 0] !== true) break;
        }
      }
    }
  }

  #union(sets: ReadonlySet<number>): number {
    const [first = 0, ...others] = sets;
    if (others.length === 0) return first;
    const members = new Set(this.#states.members(first));
    for (const set of others) {
      for (const member of this.#states.members(set)) {
        members.add(member);
        this.#spend();
      }
    }
    return this.#states.set(members);
  }

  #note(into: Map<number, Set<number>>, key: number, value: number): boolean {
    this.#spend();
    const values = into.get(key);
    if (values === undefined) into.set(key, new Set([value]));
    else if (values.has(value)) return false;
    else values.add(value);
    return true;
  }

  #spend(): void {
    this.#work += 1;
    if (this.#work < 4_096) return;
    this.#meter.spend(this.#work);
    this.#work = 0;
  }
}

class RankQueue {
  readonly #heap: number[] = [];
  readonly #ranks: Int32Array;

  constructor(ranks: Int32Array) {
    this.#ranks = ranks;
  }

  push(rule: number): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(rule);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (this.#rank(heap[parent] ?? 0) <= this.#rank(rule)) break;
      heap[at] = heap[parent] ?? 0;
      at = parent;
    }
    heap[at] = rule;
  }

  pop(): number | undefined {
    const heap = this.#heap;
    const [first] = heap;
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      const right = heap[child + 1];
      if (right !== undefined && this.#rank(right) < this.#rank(heap[child] ?? 0)) child += 1;
      if (this.#rank(heap[child] ?? 0) >= this.#rank(last)) break;
      heap[at] = heap[child] ?? 0;
      at = child;
    }
    heap[at] = last;
    return first;
  }

  #rank(rule: number): number {
    return this.#ranks[rule] ?? 0;
  }
}
