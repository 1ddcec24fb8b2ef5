import { useState } from 'preact/hooks';
import { CopyButton } from '../parts/copy-button.tsx';
import { Markdown } from '../text/markdown.tsx';
import { CallCards } from './call-cards.tsx';
import { alternatives, branchAt, type Entry, newestBelow, withLeaf } from './talk/conversation.ts';
import { Ledger } from './ledger.tsx';
import {
  add,
  answerOf,
  aside,
  begin,
  changeCurrent,
  current,
  isAnswering,
  retry,
  sayInstead,
  stop,
} from './talk/playground-state.ts';

interface Props {
  readonly entry: Entry;
  readonly lane: number;
  readonly path: readonly Entry[];
}

export function EntryView(props: Props) {
  switch (props.entry.role) {
    case 'user':
      return <Prompt {...props} />;
    case 'tool':
      return <ToolResult {...props} />;
    case 'assistant':
      return <Answer {...props} />;
  }
}

function Prompt({ entry, lane }: Props) {
  const [draft, setDraft] = useState<string | null>(null);
  if (draft !== null) {
    const send = () => {
      setDraft(null);
      if (draft.trim() !== '') sayInstead(lane, entry, draft);
    };
    return (
      <li class="entry user">
        <label>
          <span class="unseen">Edited message</span>
          <textarea value={draft} rows={3} onInput={({ currentTarget }) => setDraft(currentTarget.value)} />
        </label>
        <div class="tools editing">
          <button type="button" class="main small" onClick={send}>
            Send
          </button>
          <button type="button" class="quiet small" onClick={() => setDraft(null)}>
            Cancel
          </button>
        </div>
      </li>
    );
  }
  return (
    <li class="entry user">
      <p class="said">{entry.text}</p>
      <div class="tools">
        <Pager entry={entry} lane={lane} />
        <button
          type="button"
          class="quiet small"
          onClick={() => setDraft(entry.text)}
          disabled={isAnswering.value}
        >
          Edit
        </button>
      </div>
    </li>
  );
}

function ToolResult({ entry }: Props) {
  return (
    <li class="entry tool">
      <p class="who">Your result</p>
      <pre tabIndex={0}>{entry.text}</pre>
    </li>
  );
}

function Answer({ entry, lane, path }: Props) {
  const live = answerOf(entry)?.value;
  const { text, reasoning = '', calls = [] } = live ?? entry;
  const isLast =
    path.at(-1)?.id === entry.id || path.slice(path.indexOf(entry) + 1).every(({ role }) => role === 'tool');
  return (
    <li class={live ? 'entry assistant live' : 'entry assistant'} aria-busy={live !== undefined}>
      {reasoning === '' ? null : <Reasoning text={reasoning} isOpen={live !== undefined && text === ''} />}
      {live && text === '' && reasoning === '' && calls.length === 0 ? <Waiting /> : null}
      {text === '' ? null : <Markdown text={text} isGrowing={live !== undefined} />}
      <CallCards calls={calls} path={path} lane={lane} isOpen={isLast && live === undefined} />
      {entry.failure === undefined ? null : <AnswerFailure text={entry.failure} code={entry.failureCode} />}
      {live ? (
        <div class="tools">
          <button type="button" class="quiet small" onClick={() => stop(entry)}>
            Stop
          </button>
        </div>
      ) : (
        <Foot entry={entry} lane={lane} />
      )}
    </li>
  );
}

function Foot({ entry, lane }: Omit<Props, 'path'>) {
  const model = entry.model ?? 'default';
  return (
    <>
      <Ledger entry={entry} />
      <div class="tools">
        <Pager entry={entry} lane={lane} />
        <button
          type="button"
          class="quiet small"
          onClick={() => retry(lane, entry)}
          disabled={isAnswering.value}
        >
          Retry
        </button>
        <button
          type="button"
          class="quiet small"
          onClick={() => add([branchAt(current.value, { model, leaf: entry.id })])}
        >
          Branch
        </button>
        <CopyButton text={entry.text} />
      </div>
    </>
  );
}

function Reasoning({ text, isOpen }: { text: string; isOpen: boolean }) {
  return (
    <details class="reasoning" open={isOpen}>
      <summary>Reasoning</summary>
      <Markdown text={text} />
    </details>
  );
}

function Waiting() {
  return (
    <p class="waiting">
      <span>Waiting for the first token…</span>
    </p>
  );
}

/** Which of several versions this is, and the way to the others. */
function Pager({ entry, lane }: Omit<Props, 'path'>) {
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
      <button
        type="button"
        class="quiet small"
        aria-label="Previous version"
        disabled={at === 0}
        onClick={step(-1)}
      >
        ‹
      </button>
      <span>
        {at + 1} of {tries.length}
      </span>
      <button
        type="button"
        class="quiet small"
        aria-label="Next version"
        disabled={at === tries.length - 1}
        onClick={step(1)}
      >
        ›
      </button>
    </span>
  );
}

/** Why there is no answer, and beside it what helps. */
function AnswerFailure({ text, code }: { text: string; code: string | undefined }) {
  return (
    <div class="failure" role="alert">
      <p>{text}</p>
      {code === 'context_length_exceeded' ? (
        <div class="actions">
          <button type="button" class="small" onClick={() => begin()}>
            New conversation
          </button>
          <button type="button" class="small" onClick={() => (aside.value = 'settings')}>
            Settings
          </button>
        </div>
      ) : null}
      {code === 'model_not_found' || code === 'no_default_model' ? (
        <a class="button small" href="#/models">
          Models
        </a>
      ) : null}
    </div>
  );
}
