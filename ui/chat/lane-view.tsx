import { ArrowDown, X } from 'lucide';
import { useRef } from 'preact/hooks';
import { IconButton } from '../parts/icon.tsx';
import { EntryView } from './entry/entry-view.tsx';
import { useFollowing } from './following.ts';
import { ModelChoice } from './model-choice.tsx';
import { countSends } from './talk/answering.ts';
import { type Lane, pathTo, withoutLane } from './talk/conversation.ts';
import { changeCurrent, current } from './talk/conversations.ts';
import { Welcome } from './welcome.tsx';

export function LaneHead({ lane, at }: { lane: Lane; at: number }) {
  return (
    <header class="lane-head">
      <ModelChoice lane={lane} at={at} />
      <IconButton
        icon={X}
        name={`Remove ${lane.model}`}
        onClick={() => changeCurrent((now) => withoutLane(now, at))}
      />
    </header>
  );
}

export function LaneView({ lane, at }: { lane: Lane; at: number }) {
  const path = pathTo(current.value, lane.leaf);
  const scroller = useRef<HTMLDivElement>(null);
  const { isAtEnd, toEnd } = useFollowing(scroller, countSends(current.value.id));
  return (
    <div class="lane-body">
      <div
        class="scroller"
        ref={scroller}
        tabIndex={0}
        role="log"
        aria-label={`Conversation with ${lane.model}`}
      >
        {path.length === 0 && at === 0 ? <Welcome /> : null}
        <ol class="entries">
          {path.map((entry) => (
            <EntryView key={entry.id} entry={entry} lane={at} path={path} />
          ))}
        </ol>
      </div>
      {isAtEnd ? null : <IconButton icon={ArrowDown} name="To the end" class="to-end" onClick={toEnd} />}
    </div>
  );
}
