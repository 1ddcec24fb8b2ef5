import { Square } from 'lucide';
import { useState } from 'preact/hooks';
import { IconButton } from '../../parts/icon.tsx';
import { Markdown } from '../../text/markdown.tsx';
import { answerOf, stop, writeInstead } from '../talk/answering.ts';
import { current } from '../talk/conversations.ts';
import { draftNameBelow, setDraft } from '../talk/drafts.ts';
import { AnswerActions } from './answer-actions.tsx';
import { AnswerFailure } from './answer-failure.tsx';
import { CallCards } from './call-cards.tsx';
import { EditForm } from './edit-form.tsx';
import type { EntryFacts } from './entry-facts.ts';
import { Ledger, Warning } from './ledger.tsx';
import { ProofLine } from './proof-line.tsx';
import { Waiting } from './waiting.tsx';

export function AnswerView({ entry, lane, path }: EntryFacts) {
  const [isEdited, setEdited] = useState(false);
  const draft = draftNameBelow(current.value.id, entry.id);
  const live = answerOf(entry)?.value;
  const { text, reasoning = '', calls = [] } = live ?? entry;
  const isMade = live !== undefined || entry.isOpen === true;
  const isLast =
    path.at(-1)?.id === entry.id || path.slice(path.indexOf(entry) + 1).every(({ role }) => role === 'tool');
  if (isEdited) {
    return (
      <li class="entry assistant">
        <EditForm
          label="Edited answer"
          draft={draft}
          text={entry.text}
          submit="Save"
          onSubmit={(written) => {
            setEdited(false);
            setDraft(draft, '');
            writeInstead(lane, entry, written);
          }}
          onCancel={() => setEdited(false)}
        />
      </li>
    );
  }
  return (
    <li class={isMade ? 'entry assistant live' : 'entry assistant'} aria-busy={isMade}>
      {reasoning === '' ? null : <Reasoning text={reasoning} isOpen={isMade && text === ''} />}
      {live && text === '' && reasoning === '' && calls.length === 0 ? (
        <Waiting state={live.waiting} />
      ) : null}
      {text === '' ? null : <Markdown text={text} isGrowing={isMade} />}
      <CallCards entry={entry} calls={calls} path={path} lane={lane} isOpen={isLast && !isMade} />
      {entry.failure === undefined ? null : <AnswerFailure entry={entry} lane={lane} />}
      {live ? (
        // The growing text moves the button, so a click could begin on it and end outside.
        <div
          class="tools"
          onPointerDown={({ target }) => (target as Element).closest('button') !== null && stop(entry)}
        >
          <IconButton icon={Square} name="Stop" words="Stop" onClick={() => stop(entry)} />
        </div>
      ) : null}
      {!live && isMade ? <p class="hint">Being written in another tab.</p> : null}
      {isMade ? null : (
        <>
          <Warning entry={entry} />
          <ProofLine entry={entry} />
          <footer class="foot">
            <Ledger entry={entry} />
            <AnswerActions entry={entry} lane={lane} onEdit={() => setEdited(true)} />
          </footer>
        </>
      )}
    </li>
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
