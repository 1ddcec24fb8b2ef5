import { useState } from 'preact/hooks';
import { Dialog } from '../parts/dialog.tsx';
import { needsKey } from '../service/client.ts';
import { refreshAll } from '../service/known.ts';
import { storedKey, storeKey } from '../service/key.ts';

/** Asks for the key when the service does. */
export function KeyGate() {
  const [key, setKey] = useState('');
  const [isKept, setKept] = useState(false);
  if (!needsKey.value) return null;
  const enter = (event: Event) => {
    event.preventDefault();
    storeKey(key.trim(), isKept);
    needsKey.value = false;
    void refreshAll();
  };
  return (
    <Dialog title="This service asks for a key" onClose={() => (needsKey.value = false)}>
      <form class="key" onSubmit={enter}>
        {storedKey() === null ? null : <p class="failure">The key that was entered is not the right one.</p>}
        <label class="labelled">
          <span>API key</span>
          <input
            type="password"
            autocomplete="current-password"
            required
            value={key}
            onInput={({ currentTarget }) => setKey(currentTarget.value)}
          />
          <small>It is what the service was started with as SVC_API_KEY.</small>
        </label>
        <label class="inline">
          <input
            type="checkbox"
            checked={isKept}
            onChange={({ currentTarget }) => setKept(currentTarget.checked)}
          />
          <span>Keep it in this browser; else it is forgotten with this tab</span>
        </label>
        <button type="submit" class="main">
          Enter
        </button>
      </form>
    </Dialog>
  );
}
