import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { signal } from '@preact/signals';
import { addressOf } from '../../parts/address.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { ago } from '../../parts/figures.ts';
import { kept } from '../talk/conversations.ts';
import { found, type Hit, MOST_HITS } from './find.ts';

export const isSearchOpen = signal(false);

export function SearchDialog() {
  const [wanted, setWanted] = useState('');
  const [at, setAt] = useState(0);
  const list = useRef<HTMLUListElement>(null);
  const hits = useMemo(() => found(kept.value, wanted), [kept.value, wanted]);
  useEffect(() => list.current?.children[at]?.scrollIntoView({ block: 'nearest' }), [at]);
  const close = () => (isSearchOpen.value = false);
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const hit = hits[at];
    if (event.key === 'Escape') {
      // The browser would only empty the field.
      event.preventDefault();
      close();
    } else if (step !== undefined) {
      event.preventDefault();
      setAt(Math.min(hits.length - 1, Math.max(0, at + step)));
    } else if (event.key === 'Enter' && hit !== undefined) {
      event.preventDefault();
      location.hash = addressOf('chat', hit.id);
      close();
    }
  };
  return (
    <Dialog title="Search conversations" onClose={close}>
      <input
        type="search"
        class="search-field"
        aria-label="Words to find"
        placeholder="Words of a title, a question or an answer"
        autofocus
        value={wanted}
        onKeyDown={onKeyDown}
        onInput={({ currentTarget }) => {
          setWanted(currentTarget.value);
          setAt(0);
        }}
      />
      <p class="unseen" role="status">
        {hits.length === MOST_HITS ? `${MOST_HITS} or more found` : `${hits.length} found`}
      </p>
      {hits.length === 0 ? <p class="hint">No conversation holds these words.</p> : null}
      <ul class="hits" ref={list}>
        {hits.map((hit, each) => (
          <li key={hit.id}>
            <a href={addressOf('chat', hit.id)} class={each === at ? 'now' : undefined} onClick={close}>
              <Found hit={hit} />
            </a>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}

function Found({ hit: { title, changedAt, excerpt } }: { hit: Hit }) {
  const [before, word, after] = excerpt;
  return (
    <>
      <span class="title">{title}</span>
      <small>{ago(changedAt, Date.now())}</small>
      {word === '' ? null : (
        <span class="excerpt">
          {before}
          <mark>{word}</mark>
          {after}
        </span>
      )}
    </>
  );
}
