import { useState } from 'preact/hooks';
import { Failure } from '../parts/failure.tsx';
import { ago, plural } from '../parts/figures.ts';
import { saveFile } from '../parts/files.ts';
import { sentenceOf } from '../service/client.ts';
import { CloseAside } from './close-aside.tsx';
import { exportFile, importFile, newOf } from './talk/exported.ts';
import { add, begin, current, kept, open, remove, removed, undoRemove } from './talk/playground-state.ts';

/** The conversations of this browser: open, remove, export and import them. */
export function History() {
  const [said, setSaid] = useState<string | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  const read = async (file: File | undefined) => {
    if (file === undefined) return;
    try {
      const imported = importFile(await file.text());
      const fresh = newOf(imported, kept.value);
      add(fresh);
      setSaid(importWords(fresh.length, imported.length - fresh.length));
      setFault(null);
    } catch (error) {
      setFault(sentenceOf(error));
    }
  };
  return (
    <aside class="side history" aria-label="Conversations">
      <header>
        <h2>Conversations</h2>
        <CloseAside />
        <button type="button" class="main small" onClick={() => begin()}>
          New
        </button>
      </header>
      {kept.value.length === 0 ? (
        <p class="hint">Your conversations appear here. They are stored only in this browser.</p>
      ) : null}
      <ul>
        {kept.value.map(({ id, title, changedAt }) => (
          <li key={id} class={id === current.value.id ? 'now' : undefined}>
            <button
              type="button"
              class="item"
              aria-current={id === current.value.id}
              onClick={() => open(id)}
            >
              <span>{title}</span>
              <small>{ago(changedAt, Date.now())}</small>
            </button>
            <button
              type="button"
              class="quiet small"
              aria-label={`Remove ${title}`}
              onClick={() => remove(id)}
            >
              ×
            </button>
          </li>
        ))}
      </ul>
      {removed.value === null ? null : (
        <p class="hint undo" role="status">
          <span>Removed "{removed.value.title}".</span>{' '}
          <button type="button" class="small" onClick={undoRemove}>
            Undo
          </button>
        </p>
      )}
      {said === null ? null : (
        <p class="hint" role="status">
          {said}
        </p>
      )}
      <Failure text={fault} />
      <footer>
        <button
          type="button"
          class="quiet small"
          disabled={kept.value.length === 0}
          onClick={() => saveFile('hearth-conversations.json', exportFile(kept.value))}
        >
          Export
        </button>
        <label class="button quiet small">
          Import
          <input
            type="file"
            class="unseen"
            accept="application/json,.json"
            onChange={({ currentTarget }) => {
              void read(currentTarget.files?.[0]);
              // The same file can be chosen again.
              currentTarget.value = '';
            }}
          />
        </label>
      </footer>
    </aside>
  );
}

function importWords(fresh: number, skipped: number): string {
  const imported = `${plural(fresh, 'conversation')} imported`;
  return skipped === 0 ? `${imported}.` : `${imported}; ${skipped} skipped: already here.`;
}
