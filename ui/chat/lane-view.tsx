import { useEffect, useRef } from 'preact/hooks';
import { areModelsKnown, chatModels, menuWith } from '../service/known.ts';
import { Options } from '../parts/options.tsx';
import { type Lane, pathTo, withLane, withModel, withoutLane } from './talk/conversation.ts';
import { EntryView } from './entry-view.tsx';
import { aside, begin, changeCurrent, current, isCodeOpen, say } from './talk/playground-state.ts';

const MOST_LANES = 4;
const FIRST_PROMPTS = ['What is Hearth?', 'How can I prove an answer?', 'How do I install a bigger model?'];

/** Which model answers in this column, and on the first one what else can be opened. */
export function LaneHead({ lane, at }: { lane: Lane; at: number }) {
  const count = current.value.lanes.length;
  return (
    <header class="lane-head">
      <ModelChoice lane={lane} at={at} />
      {count > 1 ? (
        <button type="button" class="quiet" onClick={() => changeCurrent((now) => withoutLane(now, at))}>
          <span aria-hidden="true">×</span>
          <span class="unseen">Remove {lane.model}</span>
        </button>
      ) : null}
      {at === count - 1 ? <Openers count={count} /> : null}
    </header>
  );
}

function ModelChoice({ lane, at }: { lane: Lane; at: number }) {
  return (
    <label class="choice">
      <span class="unseen">Model of column {at + 1}</span>
      <select
        value={lane.model}
        onChange={({ currentTarget }) => changeCurrent((now) => withModel(now, at, currentTarget.value))}
      >
        <Options of={menuWith(lane.model)} />
      </select>
    </label>
  );
}

function Openers({ count }: { count: number }) {
  const toggle = (name: 'history' | 'settings') => () => {
    aside.value = aside.value === name ? 'none' : name;
  };
  const next = chatModels.value.find(({ id }) => !current.value.lanes.some(({ model }) => model === id));
  const beside = next?.id ?? current.value.lanes[0]?.model ?? 'default';
  return (
    <div class="openers">
      {current.value.entries.length === 0 ? null : (
        <button type="button" class="quiet" onClick={() => begin()}>
          New
        </button>
      )}
      {count < MOST_LANES ? (
        <button type="button" class="quiet" onClick={() => changeCurrent((now) => withLane(now, beside))}>
          Compare
        </button>
      ) : null}
      <button type="button" class="quiet" onClick={() => (isCodeOpen.value = true)}>
        Code
      </button>
      <button
        type="button"
        class="quiet"
        aria-expanded={aside.value === 'history'}
        onClick={toggle('history')}
      >
        History
      </button>
      <button
        type="button"
        class="quiet"
        aria-expanded={aside.value === 'settings'}
        onClick={toggle('settings')}
      >
        Settings
      </button>
    </div>
  );
}

/** The path of one lane, kept in sight at its end while the user is there. */
export function LaneView({ lane, at }: { lane: Lane; at: number }) {
  const path = pathTo(current.value, lane.leaf);
  const scroller = useRef<HTMLDivElement>(null);
  useFollowing(scroller, current.value.id);
  return (
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
  );
}

/** Follows the end as the content grows, unless the user has scrolled away from it. */
function useFollowing(scroller: { current: HTMLDivElement | null }, conversation: string): void {
  useEffect(() => {
    const element = scroller.current;
    const content = element?.querySelector('.entries');
    if (!element || !content) return;
    let isAtEnd = true;
    const onScroll = () => {
      isAtEnd = element.scrollHeight - element.scrollTop - element.clientHeight < 48;
    };
    const observer = new ResizeObserver(() => {
      if (isAtEnd) element.scrollTop = element.scrollHeight;
    });
    observer.observe(content);
    element.addEventListener('scroll', onScroll, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', onScroll);
    };
  }, [conversation]);
}

function Welcome() {
  if (areModelsKnown.value && chatModels.value.length === 0) return <NoModel />;
  return (
    <div class="welcome">
      <p class="lead">Ask the models on this machine.</p>
      <p>Messages go to this service only, and conversations are stored only in this browser.</p>
      <ul>
        {FIRST_PROMPTS.map((text) => (
          <li key={text}>
            <button type="button" onClick={() => say(text)}>
              {text}
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}

function NoModel() {
  return (
    <div class="welcome">
      <p class="lead">No chat model is installed.</p>
      <p>Install one, or bring back the one that ships with Hearth.</p>
      <a class="button" href="#/models">
        Open Models
      </a>
    </div>
  );
}
