import { Folder, FolderInput, FolderMinus, FolderPlus, Pencil, Pin, PinOff, Trash2 } from 'lucide';
import { useEffect, useRef, useState } from 'preact/hooks';
import { addressOf, place } from '../../parts/address.ts';
import { count, moment } from '../../parts/figures.ts';
import { IconButton } from '../../parts/icon.tsx';
import { Menu } from '../../parts/menu.tsx';
import { type Conversation, MOST_FOLDER, withFolder, withPin } from '../talk/conversation.ts';
import { change, current, isRestored, kept, remove, removed, undoRemove } from '../talk/conversations.ts';
import { closedFolders, setFolderOpen } from './closed-folders.ts';
import { foldersOf, type Group, grouped } from './groups.ts';
import { Naming } from './naming.tsx';

export function ConversationList() {
  return (
    <nav class="conversations" aria-label="Conversations" onKeyDown={moveAlong}>
      {removed.value === null ? null : (
        <p class="undo" role="status">
          <span>Removed "{removed.value.title}".</span>{' '}
          <button type="button" class="small" onClick={undoRemove}>
            Undo
          </button>
        </p>
      )}
      {isRestored.value && kept.value.length === 0 ? (
        <p class="hint">Your conversations appear here. They are stored only in this browser.</p>
      ) : null}
      {grouped(kept.value, Date.now()).map((group) =>
        group.isFolder ? (
          <FolderOf key={`folder ${group.title}`} group={group} />
        ) : (
          <section key={group.title} aria-label={group.title}>
            <h2>{group.title}</h2>
            <Items of={group.conversations} />
          </section>
        ),
      )}
    </nav>
  );
}

/** Up and down select another conversation, left and right an action of one. */
function moveAlong(event: KeyboardEvent & { readonly currentTarget: HTMLElement }): void {
  const [selector, step] = ARROWS[event.key] ?? [];
  const at = event.target as Element;
  const row = at.closest('.item');
  if (selector === undefined || step === undefined || row === null || at.matches('input, [role=menuitem]'))
    return;
  const isAlong = selector === ROW_STOPS;
  const all = [...(isAlong ? row : event.currentTarget).querySelectorAll<HTMLElement>(selector)].filter(
    (each) => isAlong || each.checkVisibility(),
  );
  const from = isAlong ? at : (row.querySelector(selector) ?? at);
  event.preventDefault();
  all[all.indexOf(from as HTMLElement) + step]?.focus();
}

const ROW_STOPS = 'a, .item-actions button';
const ARROWS: Readonly<Record<string, readonly [string, number]>> = {
  ArrowDown: ['.item > a', 1],
  ArrowUp: ['.item > a', -1],
  ArrowRight: [ROW_STOPS, 1],
  ArrowLeft: [ROW_STOPS, -1],
};

const Items = ({ of }: { of: readonly Conversation[] }) => (
  <ul>
    {of.map((each) => (
      <Item key={each.id} conversation={each} />
    ))}
  </ul>
);

const putInto = (id: string, folder: string | null): void => change(id, (now) => withFolder(now, folder));

function FolderOf({ group: { title, conversations } }: { group: Group }) {
  const [isNaming, setNaming] = useState(false);
  // Includes pinned members, which are listed in another group.
  const rename = (name: string) => {
    for (const { id, folder } of kept.value) if (folder === title) putInto(id, name);
  };
  if (isNaming) {
    return (
      <Naming
        label={`Name of the folder ${title}`}
        name={title}
        most={MOST_FOLDER}
        onSave={rename}
        onEnd={() => setNaming(false)}
      />
    );
  }
  return (
    <section class="folder" aria-label={title}>
      <IconButton icon={Pencil} name={`Rename the folder ${title}`} onClick={() => setNaming(true)} />
      <details
        open={!closedFolders.value.has(title)}
        onToggle={({ currentTarget }) => setFolderOpen(title, currentTarget.open)}
      >
        <summary>
          <h2>{title}</h2>
          <small>{count(conversations.length)}</small>
        </summary>
        <Items of={conversations} />
      </details>
    </section>
  );
}

const MOST_TITLE = 200;

function Item({ conversation }: { conversation: Conversation }) {
  const [naming, setNaming] = useState<'title' | 'folder' | null>(null);
  const { id, title, changedAt, isPinned = false } = conversation;
  const isCurrent = place.value.view === 'chat' && id === current.value.id;
  const row = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (isCurrent) row.current?.scrollIntoView({ block: 'nearest' });
  }, [isCurrent, conversation.folder, isPinned]);
  const pin = () => change(id, (now) => withPin(now, !isPinned));
  if (naming !== null) {
    const isTitle = naming === 'title';
    return (
      <li class="item">
        <Naming
          label={isTitle ? `Name of ${title}` : `New folder for ${title}`}
          name={isTitle ? title : ''}
          most={isTitle ? MOST_TITLE : MOST_FOLDER}
          placeholder={isTitle ? 'Name of the conversation' : 'Name of the folder'}
          onSave={(name) => (isTitle ? change(id, (now) => ({ ...now, title: name })) : putInto(id, name))}
          onEnd={() => setNaming(null)}
        />
      </li>
    );
  }
  return (
    <li class={isCurrent ? 'item now' : 'item'} ref={row}>
      <a
        href={addressOf('chat', id)}
        aria-current={isCurrent ? 'page' : undefined}
        title={`${title}\n${moment(changedAt)}`}
      >
        {title}
      </a>
      <span class="item-actions">
        <IconButton
          icon={isPinned ? PinOff : Pin}
          name={`${isPinned ? 'Unpin' : 'Pin'} ${title}`}
          onClick={pin}
          isInRow
        />
        <IconButton icon={Pencil} name={`Rename ${title}`} isInRow onClick={() => setNaming('title')} />
        <IconButton icon={Trash2} name={`Remove ${title}`} isInRow onClick={() => remove(id)} />
        <Mover conversation={conversation} onNew={() => setNaming('folder')} />
      </span>
    </li>
  );
}

function Mover({
  conversation: { id, title, folder },
  onNew,
}: {
  conversation: Conversation;
  onNew: () => void;
}) {
  const others = foldersOf(kept.value).filter((each) => each !== folder);
  return (
    <Menu
      icon={FolderInput}
      name={`Move ${title} to a folder`}
      isInRow
      items={[
        ...others.map((name) => ({ name, icon: Folder, onClick: () => putInto(id, name) })),
        { name: 'New folder…', icon: FolderPlus, onClick: onNew },
        ...(folder === undefined
          ? []
          : [{ name: `Out of ${folder}`, icon: FolderMinus, onClick: () => putInto(id, null) }]),
      ]}
    />
  );
}
