/** Merges two states of a conversation without losing anything, because tabs write at the same time. */
import { closed, type Entry } from './entry.ts';
import { type Conversation, type Lane, pathTo, type Removal, withoutEntries } from './conversation.ts';

export function merged(stored: Conversation, mine: Conversation): Conversation {
  const newer = stampOf(mine) >= stampOf(stored) ? mine : stored;
  const removals = mergedRemovals(stored.removals, mine.removals);
  const byId = new Map(mine.entries.map((entry) => [entry.id, entry]));
  const entries = withUnknown(
    stored.entries.map((entry) => fuller(entry, byId.get(entry.id))),
    mine.entries,
    removals,
  );
  const all = {
    ...newer,
    entries,
    title: newer.title === '' ? stored.title || mine.title : newer.title,
    changedAt: Math.max(stored.changedAt, mine.changedAt),
  };
  const gone = entries.filter(({ id }) => removals?.[id]?.isRemoved === true);
  const left = gone.length === 0 ? all : withoutEntries(all, gone);
  return removals === undefined ? left : { ...left, removals };
}

/** Columns that ended where the other tab continued follow it. */
export function followed(mine: Conversation, stored: Conversation): Conversation {
  const both = merged(stored, mine);
  const lanes = mine.lanes.map((lane, at) => following(both, lane, stored.lanes[at]));
  return { ...both, lanes };
}

function following(both: Conversation, lane: Lane, other: Lane | undefined): Lane {
  const stands = lane.leaf !== null && !both.entries.some(({ id }) => id === lane.leaf);
  if (other === undefined || (other.model !== lane.model && !stands)) return lane;
  const isBehind = lane.leaf === null || pathTo(both, other.leaf).some(({ id }) => id === lane.leaf);
  return isBehind || stands ? { ...lane, leaf: other.leaf } : lane;
}

const stampOf = ({ editedAt, changedAt }: Conversation): number => editedAt ?? changedAt;

/** Restored entries get their old place, new ones come last. */
function withUnknown(stored: readonly Entry[], mine: readonly Entry[], removals: Removals): Entry[] {
  const all = [...stored];
  const known = new Set(stored.map(({ id }) => id));
  const indexIn = (wanted: string | null | undefined) => all.findIndex(({ id }) => id === wanted);
  mine.forEach((entry, at) => {
    if (known.has(entry.id)) return;
    const isBack = removals?.[entry.id]?.isRemoved === false;
    const place = isBack ? Math.max(indexIn(mine[at - 1]?.id), indexIn(entry.parent)) + 1 : all.length;
    all.splice(place, 0, entry);
  });
  return all;
}

/** A `cut` answer may still be running: another tab only assumed that its writer was closed. */
const isUnfinished = ({ isOpen, finish }: Entry): boolean => isOpen === true || finish === 'cut';

/** A finished answer replaces an unfinished one, and no text is replaced by a shorter one. */
function fuller(a: Entry, b: Entry | undefined): Entry {
  if (b === undefined) return a;
  if (isUnfinished(a) !== isUnfinished(b)) return isUnfinished(a) ? b : a;
  if (!isUnfinished(a)) return { ...a, ...b };
  const longer = sizeOf(a) > sizeOf(b) ? a : b;
  return a.isOpen === b.isOpen ? longer : { ...closed(longer), finish: 'cut' };
}

const sizeOf = ({ text, reasoning = '' }: Entry): number => text.length + reasoning.length;

type Removals = Conversation['removals'];

function mergedRemovals(a: Removals, b: Removals): Removals {
  if (a === undefined || b === undefined) return a ?? b;
  const later = ([id, removal]: [string, Removal]) => removal.at >= (a[id]?.at ?? 0);
  return { ...a, ...Object.fromEntries(Object.entries(b).filter(later)) };
}
