import { Pencil, Trash2 } from 'lucide';
import { useState } from 'preact/hooks';
import { CopyButton } from '../../parts/copy-button.tsx';
import { count } from '../../parts/figures.ts';
import { Failure } from '../../parts/failure.tsx';
import { IconButton } from '../../parts/icon.tsx';
import { sentenceOf } from '../../service/client.ts';
import { AttachmentChips } from '../attachment-chips.tsx';
import { focusMessage } from '../at-hand.ts';
import { isAnswering, sayInstead, takeOut } from '../talk/answering.ts';
import { SearchLine } from '../search-line.tsx';
import { attach, attachedTo, findAttachFault, type Attachment, setAttachFault } from '../talk/attachments.ts';
import { current, draftName } from '../talk/conversations.ts';
import { draftNameBelow, setDraft } from '../talk/drafts.ts';
import type { Entry } from '../talk/entry.ts';
import { isToSearch, leastWindow, searches, searchFiles, toggleSearch } from '../talk/searching.ts';
import { EditForm } from './edit-form.tsx';
import type { EntryFacts } from './entry-facts.ts';
import { Pager } from './pager.tsx';

export function PromptView({ entry, lane }: EntryFacts) {
  const [isEdited, setEdited] = useState(false);
  const isSearching = searches.value[draftNameBelow(current.value.id, entry.id)] !== undefined;
  if (isEdited || isSearching)
    return <EditedPrompt entry={entry} lane={lane} onEnd={() => setEdited(false)} />;
  return (
    <li class="entry user">
      <AttachmentChips files={entry.files ?? []} onSearch={(at) => askOnceMore(entry.files?.[at])} />
      {entry.text === '' ? null : <Said text={entry.text} />}
      <div class="tools">
        <Pager entry={entry} lane={lane} />
        <CopyButton text={entry.text} isSmall />
        <IconButton icon={Pencil} name="Edit" disabled={isAnswering.value} onClick={() => setEdited(true)} />
        <IconButton
          icon={Trash2}
          name="Delete this and what follows"
          disabled={isAnswering.value}
          onClick={() => takeOut(entry)}
        />
      </div>
    </li>
  );
}

function EditedPrompt({ entry, lane, onEnd }: { entry: Entry; lane: number; onEnd: () => void }) {
  const [files, setFiles] = useState(entry.files ?? []);
  const { id: conversation, lanes } = current.value;
  const draft = draftNameBelow(conversation, entry.id);
  const search = searches.value[draft];
  const send = async (text: string) => {
    setAttachFault(draft, null);
    try {
      const wanted = { conversation, entry: entry.id, draft, question: text, files };
      const found = files.some(isToSearch)
        ? await searchFiles({ ...wanted, window: leastWindow(lanes) })
        : files;
      if (found === null) return;
      onEnd();
      setDraft(draft, '');
      sayInstead({ conversation, lane, entry }, text, found);
    } catch (error) {
      setAttachFault(draft, sentenceOf(error));
    }
  };
  return (
    <li class="entry user">
      <AttachmentChips
        files={files}
        onRemove={(at) => setFiles(files.filter((_, each) => each !== at))}
        onSearch={(at) => setFiles(files.map((file, each) => (each === at ? toggleSearch(file) : file)))}
      />
      {search === undefined ? null : <SearchLine search={search} />}
      <Failure text={findAttachFault(draft)} />
      <EditForm
        label="Edited message"
        draft={draft}
        isBusy={search !== undefined}
        text={entry.text}
        submit="Send"
        onSubmit={(text) => void send(text)}
        onCancel={() => {
          search?.abort.abort();
          onEnd();
        }}
      />
    </li>
  );
}

function askOnceMore(file: Attachment | undefined): void {
  const draft = draftName.value;
  const waiting = attachedTo(draft);
  const isThere = waiting.some(({ name, text }) => name === file?.name && text === file.text);
  if (file !== undefined && !isThere) attach(draft, { ...file, passages: [] });
  focusMessage();
}

/** Chosen: longer texts are mostly pasted and rarely read again, so they are folded. */
const MOST_CHARS = 2400;
const MOST_LINES = 30;

function Said({ text }: { text: string }) {
  const [isWhole, setWhole] = useState(false);
  const lines = text.split('\n');
  const isLong = text.length > MOST_CHARS || lines.length > MOST_LINES;
  if (!isLong) return <p class="said">{text}</p>;
  const shown = isWhole
    ? text
    : `${lines
        .slice(0, MOST_LINES / 2)
        .join('\n')
        .slice(0, MOST_CHARS / 2)}…`;
  return (
    <div class="said long">
      <p>{shown}</p>
      <button type="button" class="small" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
        {isWhole ? 'Show less' : `Show all ${count(text.length)} characters`}
      </button>
    </div>
  );
}
