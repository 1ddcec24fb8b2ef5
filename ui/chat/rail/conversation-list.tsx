import { Pencil, Pin, PinOff, Trash2 } from 'lucide';
import { useEffect, useRef, useState } from 'preact/hooks';
import { addressOf, place } from '../../parts/address.ts';
import { useEscape } from '../../parts/escape.ts';
import { IconButton } from '../../parts/icon.tsx';
import { type Conversation, withPin } from '../talk/conversation.ts';
import { change, current, isRestored, kept, remove, removed, undoRemove } from '../talk/conversations.ts';
import { grouped } from './groups.ts';

/** All conversations of this browser: opened, named, pinned and removed here. */
export function ConversationList() {
  return (
    <nav class="conversations" aria-label="Conversations">
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
      {grouped(kept.value, Date.now()).map(({ title, conversations }) => (
        <section key={title} aria-label={title}>
          <h2>{title}</h2>
          <ul>
            {conversations.map((each) => (
              <Item key={each.id} conversation={each} />
            ))}
          </ul>
        </section>
      ))}
    </nav>
  );
}

function Item({ conversation }: { conversation: Conversation }) {
  const [isNaming, setNaming] = useState(false);
  const { id, title, isPinned = false } = conversation;
  const isCurrent = place.value.view === 'chat' && id === current.value.id;
  const pin = () => change(id, (now) => withPin(now, !isPinned));
  if (isNaming) return <Naming conversation={conversation} onEnd={() => setNaming(false)} />;
  return (
    <li class={isCurrent ? 'item now' : 'item'}>
      <a href={addressOf('chat', id)} aria-current={isCurrent ? 'page' : undefined} title={title}>
        {title}
      </a>
      <span class="item-actions">
        <IconButton
          icon={isPinned ? PinOff : Pin}
          name={`${isPinned ? 'Unpin' : 'Pin'} ${title}`}
          onClick={pin}
        />
        <IconButton icon={Pencil} name={`Rename ${title}`} onClick={() => setNaming(true)} />
        <IconButton icon={Trash2} name={`Remove ${title}`} onClick={() => remove(id)} />
      </span>
    </li>
  );
}

const MOST_TITLE = 200;

function Naming({ conversation: { id, title }, onEnd }: { conversation: Conversation; onEnd: () => void }) {
  const [name, setName] = useState(title);
  const field = useRef<HTMLInputElement>(null);
  const isOver = useRef(false);
  useEffect(() => field.current?.select(), []);
  useEscape(true, () => {
    isOver.current = true;
    onEnd();
  });
  const save = () => {
    if (isOver.current) return;
    isOver.current = true;
    const wanted = name.trim();
    if (wanted !== '' && wanted !== title) change(id, (now) => ({ ...now, title: wanted }));
    onEnd();
  };
  return (
    <li class="item naming">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          save();
        }}
      >
        <input
          ref={field}
          aria-label={`Name of ${title}`}
          maxLength={MOST_TITLE}
          value={name}
          onInput={({ currentTarget }) => setName(currentTarget.value)}
          onBlur={save}
        />
      </form>
    </li>
  );
}
