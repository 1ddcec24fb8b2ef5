/**
 * server/engine/balance/policy owns the decisions about upstreams as plain functions over plain data: which one gets a
 * request, its health, and the reaction to a failure. It knows no clock, no sockets and no wire shapes; time and
 * randomness are parameters. This file: the choice.
 */
import { PRIVACIES, type Privacy } from '../../../../contract/settings/privacy.ts';
import type { BalanceLimits } from '../limits.ts';
import { type Candidate, farness, isFull, currentLoad } from './candidate.ts';

export interface Wish {
  readonly farthest: Privacy;
  readonly failed: ReadonlySet<string>;
  readonly shares: ReadonlyMap<string, number>;
  readonly session: ReadonlySet<string>;
}

type ChosenBy = 'session' | 'prefix' | 'load';

export interface Choice {
  readonly id: string;
  readonly by: ChosenBy;
  /** The upstream with the longest known prefix or the session, if it was too busy; otherwise null. */
  readonly spilledFrom: string | null;
}

export interface NoChoice {
  readonly none: 'private' | 'model_gone' | 'failed' | 'down';
}

interface ChoosePorts {
  readonly random: () => number;
  readonly limits: BalanceLimits;
}

/**
 * In this order:
 *   1. Exclude upstreams that are too far, have lost the model, failed this request, or are down.
 *   2. Keep the nearest ones with room; without room anywhere, all of them.
 *   3. Choose the one that had this session, or else knows most of the prompt, unless its load is clearly above the
 *      least.
 *   4. Otherwise choose the least loaded, at random among equals.
 */
export function choose(
  pool: readonly Candidate[],
  wish: Wish,
  { random, limits }: ChoosePorts,
): Choice | NoChoice {
  const living = usableCandidates(pool, wish);
  if ('none' in living) return living;
  const field = nearestWithRoom(living, limits);
  const least = leastLoaded(field, random);
  const known = bestKnown(field, wish, limits);
  const chosen = known !== null && !isClearlyMoreLoaded(known, least, limits) ? known : least;
  const best = bestKnown(living, wish, limits);
  const isKnown = prefixValue(chosen, wish) >= limits.leastShare && chosen === known;
  return {
    id: chosen.id,
    by: !isKnown ? 'load' : wish.session.has(chosen.id) ? 'session' : 'prefix',
    spilledFrom: best !== null && prefixValue(best, wish) > prefixValue(chosen, wish) ? best.id : null,
  };
}

function usableCandidates(
  pool: readonly Candidate[],
  { farthest, failed }: Wish,
): readonly Candidate[] | NoChoice {
  const permitted = pool.filter(({ privacy }) => farness(privacy) <= farness(farthest));
  if (permitted.length === 0) return { none: 'private' };
  const having = permitted.filter(({ hasModel }) => hasModel);
  if (having.length === 0) return { none: 'model_gone' };
  const fresh = having.filter(({ id }) => !failed.has(id));
  if (fresh.length === 0) return { none: 'failed' };
  const living = fresh.filter(({ health }) => health !== 'down');
  return living.length === 0 ? { none: 'down' } : living;
}

function nearestWithRoom(living: readonly Candidate[], limits: BalanceLimits): readonly Candidate[] {
  const open = living.filter((candidate) => !isFull(candidate, limits));
  const nearest = PRIVACIES.find((distance) => open.some(({ privacy }) => privacy === distance));
  return nearest === undefined ? living : open.filter(({ privacy }) => privacy === nearest);
}

function prefixValue({ id }: Candidate, { session, shares }: Wish): number {
  return session.has(id) ? 1 : (shares.get(id) ?? 0);
}

function bestKnown(field: readonly Candidate[], wish: Wish, { leastShare }: BalanceLimits): Candidate | null {
  const known = field.filter((candidate) => prefixValue(candidate, wish) >= leastShare);
  const [best = null] = known.sort(
    (one, other) =>
      prefixValue(other, wish) - prefixValue(one, wish) ||
      // If both had the session, the one that knows more of this prompt had its last request.
      (wish.shares.get(other.id) ?? 0) - (wish.shares.get(one.id) ?? 0) ||
      relativeLoad(one) - relativeLoad(other),
  );
  return best;
}

function isClearlyMoreLoaded(one: Candidate, least: Candidate, { affinitySlack }: BalanceLimits): boolean {
  const surplus = currentLoad(one) - relativeLoad(least) * slotCount(one);
  return surplus > Math.max(1, affinitySlack * slotCount(one));
}

function leastLoaded(field: readonly Candidate[], random: () => number): Candidate {
  const least = Math.min(...field.map(relativeLoad));
  const equals = field.filter((candidate) => relativeLoad(candidate) === least);
  const chosen = equals[Math.floor(random() * equals.length)];
  if (chosen === undefined) throw new Error('a choice among no upstreams');
  return chosen;
}

const relativeLoad = (candidate: Candidate): number => currentLoad(candidate) / slotCount(candidate);

function slotCount({ load, maxCalls }: Candidate): number {
  return Math.max(1, Math.min(load?.capacity ?? USUAL_SLOTS, maxCalls));
}

const USUAL_SLOTS = 4;
