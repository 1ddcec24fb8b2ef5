import { ChevronLeft, ChevronRight } from 'lucide';
import { IconButton } from '../../parts/icon.tsx';
import { alternatives, newestBelow, withLeaf } from '../talk/conversation.ts';
import { changeCurrent, current } from '../talk/conversations.ts';
import type { EntryFacts } from './entry-facts.ts';

export function Pager({ entry, lane }: Pick<EntryFacts, 'entry' | 'lane'>) {
  const tries = alternatives(current.value, entry);
  const at = tries.findIndex(({ id }) => id === entry.id);
  if (tries.length < 2) return null;
  const step = (by: number) => () => {
    const to = tries[at + by];
    if (to !== undefined)
      changeCurrent((now) => withLeaf(now, lane, newestBelow(now, to.id, now.lanes[lane]?.model)));
  };
  return (
    <span class="pager">
      <IconButton icon={ChevronLeft} name="Previous version" disabled={at === 0} onClick={step(-1)} />
      <span>
        {at + 1} of {tries.length}
      </span>
      <IconButton
        icon={ChevronRight}
        name="Next version"
        disabled={at === tries.length - 1}
        onClick={step(1)}
      />
    </span>
  );
}
