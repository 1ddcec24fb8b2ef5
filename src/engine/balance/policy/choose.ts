/**
 * engine/balance/policy owns the decisions about upstreams, as plain functions over plain data: which of several gets a
 * request, what is thought of the health of each, and what follows when one fails. It knows no clock, no sockets and
 * no wire shapes; time and chance are handed in. This file: the choice.
 */
import { PRIVACIES, type Privacy } from '../../../contract/settings/privacy.ts';
import type { BalanceLimits } from '../limits.ts';
import { type Candidate, farness, isFull, loadOf } from './candidate.ts';

export interface Wish {
  /** The farthest that the prompt may go. */
  readonly farthest: Privacy;
  /** Upstreams that failed this request already. */
  readonly failed: ReadonlySet<string>;
  /** The share of the prompt that each upstream knows, 0 to 1. */
  readonly shares: ReadonlyMap<string, number>;
  /** Those that had the requests of this session. */
  readonly session: ReadonlySet<string>;
}

/** Why that one: its session, what it knows of the prompt, or its load. */
export type ChosenBy = 'session' | 'prefix' | 'load';

export interface Choice {
  readonly id: string;
  readonly by: ChosenBy;
  /** The one that knew most of the prompt, or had its session, where it had too much to do for it; else null. */
  readonly spilledFrom: string | null;
}

/** Why there is none: all are farther than the prompt may go, have lost the model, failed this request, or are down. */
export interface NoChoice {
  readonly none: 'private' | 'model_gone' | 'failed' | 'down';
}

export interface ChoosePorts {
  /** Evenly from 0 up to 1. */
  readonly random: () => number;
  readonly limits: BalanceLimits;
}

/**
 * In this order:
 *   1. Those it may not go to, that lack the model, that failed it, or that are down are out.
 *   2. The nearest ones with room, unless farther ones have shown to be faster. Without room anywhere: all of them.
 *   3. Of these the one that knows most of the prompt, or had its session, while its load stays within its part. The
 *      more it knows and the fewer others do, the more is left to it: up to a quarter, and what chance alone would do.
 *   4. Else the less loaded of two at random, or the least loaded of all where that one is above its part.
 */
export function choose(pool: readonly Candidate[], wish: Wish, ports: ChoosePorts): Choice | NoChoice {
  const living = livingOf(pool, wish); // 1
  if ('none' in living) return living;
  const field = fieldOf(living, ports.limits); // 2
  const loads = new Loads(field);
  const known = bestKnown(field, wish, loads, ports.limits); // 3
  const chosen = known ?? byLoad(field, loads, ports.random); // 4
  return {
    id: chosen.id,
    by: known === null ? 'load' : wish.session.has(chosen.id) ? 'session' : 'prefix',
    spilledFrom: spilledFrom(living, chosen, wish, ports.limits),
  };
}

function spilledFrom(
  living: readonly Candidate[],
  chosen: Candidate,
  wish: Wish,
  { leastShare }: BalanceLimits,
): string | null {
  const best = living.reduce((one, other) => (valueOf(other, wish) > valueOf(one, wish) ? other : one));
  const value = valueOf(best, wish);
  return value >= leastShare && value > valueOf(chosen, wish) ? best.id : null;
}

function livingOf(pool: readonly Candidate[], { farthest, failed }: Wish): readonly Candidate[] | NoChoice {
  const permitted = pool.filter(({ privacy }) => farness(privacy) <= farness(farthest));
  if (permitted.length === 0) return { none: 'private' };
  const having = permitted.filter(({ hasModel }) => hasModel);
  if (having.length === 0) return { none: 'model_gone' };
  const fresh = having.filter(({ id }) => !failed.has(id));
  if (fresh.length === 0) return { none: 'failed' };
  const living = fresh.filter(({ health }) => health !== 'down');
  return living.length === 0 ? { none: 'down' } : living;
}

/** The upstreams with room that are asked first. */
function fieldOf(living: readonly Candidate[], limits: BalanceLimits): readonly Candidate[] {
  const open = living.filter((candidate) => !isFull(candidate, limits));
  if (open.length === 0) return living;
  let field: readonly Candidate[] = [];
  for (const distance of PRIVACIES) {
    const ring = open.filter(({ privacy }) => privacy === distance);
    if (ring.length === 0) continue;
    if (field.length === 0 || isSlower(field, ring, limits)) field = ring;
  }
  return field;
}

/** Whether the nearer ones have shown to be slower; what nobody has seen is not slow. */
function isSlower(
  near: readonly Candidate[],
  far: readonly Candidate[],
  { nearSlowdown, nearSlackMs }: BalanceLimits,
): boolean {
  const fastest = Math.min(...far.map(({ firstTokenMs }) => firstTokenMs ?? Number.POSITIVE_INFINITY));
  const nearest = Math.min(...near.map(({ firstTokenMs }) => firstTokenMs ?? 0));
  return nearest > fastest * nearSlowdown + nearSlackMs;
}

/** What it is worth to send the prompt to this one, 0 to 1; a session counts as the whole prompt. */
function valueOf({ id }: Candidate, { session, shares }: Wish): number {
  return session.has(id) ? 1 : (shares.get(id) ?? 0);
}

function bestKnown(
  field: readonly Candidate[],
  wish: Wish,
  loads: Loads,
  { leastShare, affinitySlack }: BalanceLimits,
): Candidate | null {
  if (wish.shares.size === 0 && wish.session.size === 0) return null;
  const values = field.map((candidate) => valueOf(candidate, wish)).sort((one, other) => other - one);
  let best: Candidate | null = null;
  for (const candidate of field) {
    const value = valueOf(candidate, wish);
    if (value < leastShare) continue;
    // What many know is no reason to crowd one of them.
    const worth = value / (1 + values.lastIndexOf(value));
    if (!loads.isWithin(candidate, 1 + affinitySlack * worth, worth)) continue;
    if (best === null || isBetter(candidate, best, wish, loads)) best = candidate;
  }
  return best;
}

function isBetter(one: Candidate, other: Candidate, wish: Wish, loads: Loads): boolean {
  const more = valueOf(one, wish) - valueOf(other, wish);
  if (more !== 0) return more > 0;
  // Both had the session: the one that knows more of this prompt had its last request.
  const known = (wish.shares.get(one.id) ?? 0) - (wish.shares.get(other.id) ?? 0);
  return known === 0 ? loads.relative(one) < loads.relative(other) : known > 0;
}

function byLoad(field: readonly Candidate[], loads: Loads, random: () => number): Candidate {
  const lighter = (one: Candidate, other: Candidate): Candidate =>
    loads.relative(other) < loads.relative(one) ? other : one;
  const first = at(field, Math.floor(random() * field.length));
  const second = at(field, Math.floor(random() * field.length));
  const drawn = lighter(first, second);
  return loads.isWithin(drawn, 1) ? drawn : field.reduce(lighter);
}

function at<T>(list: readonly T[], index: number): T {
  const item = list[index];
  if (item === undefined) throw new Error('a choice among no upstreams');
  return item;
}

/** The load of each against its part: by its slots where they are known, as the others are on average where not. */
class Loads {
  readonly #usualSlots: number;
  readonly #slots: number;
  /** Requests, with the one that is to be sent. */
  readonly #total: number;
  readonly #recent: number;

  constructor(field: readonly Candidate[]) {
    let known = 0;
    let sum = 0;
    for (const { load } of field) {
      if (typeof load?.capacity !== 'number') continue;
      known += 1;
      sum += load.capacity;
    }
    this.#usualSlots = known === 0 ? 1 : sum / known;
    let [slots, total, recent] = [0, 1, 0];
    for (const candidate of field) {
      slots += this.#slotsOf(candidate);
      total += loadOf(candidate);
      recent += candidate.recent;
    }
    this.#slots = slots;
    this.#total = total;
    this.#recent = recent;
  }

  /** What it has now and what it got lately, each by its part of that. */
  relative(candidate: Candidate): number {
    const part = this.#slotsOf(candidate) / this.#slots;
    const lately = this.#recent === 0 ? 0 : candidate.recent / this.#recent;
    return (loadOf(candidate) / this.#total + lately) / part;
  }

  /** Whether one more leaves it at `times` its part, give or take so much of what chance alone would do. */
  isWithin(candidate: Candidate, times: number, chance = 0): boolean {
    const part = (this.#total * this.#slotsOf(candidate)) / this.#slots;
    return loadOf(candidate) + 1 <= Math.ceil(part * times + chance * Math.sqrt(part));
  }

  #slotsOf({ load, maxCalls }: Candidate): number {
    return Math.max(1, Math.min(load?.capacity ?? this.#usualSlots, maxCalls));
  }
}
