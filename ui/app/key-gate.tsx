import { useState } from 'preact/hooks';
import { Dialog } from '../parts/dialog.tsx';
import { isKeyRefused, needsKey } from '../service/client.ts';
import { areModelsKnown, refreshAll } from '../service/known.ts';
import { storedKey, storeKey } from '../service/key.ts';

export function KeyGate() {
  const [key, setKey] = useState('');
  const [isKept, setKept] = useState(false);
  if (!needsKey.value) return null;
  const enter = (event: Event) => {
    event.preventDefault();
    const [before, now] = [storedKey(), key.trim()];
    storeKey(now, isKept);
    needsKey.value = false;
    // Everything shown belongs to the key before, which may see more.
    if (before !== null && before !== now && areModelsKnown.peek()) location.reload();
    else void refreshAll();
  };
  return (
    <Dialog title="API key required" onClose={() => (needsKey.value = false)}>
      <form class="key" onSubmit={enter}>
        {isKeyRefused.value ? (
          <p class="failure" role="alert">
            That key was not accepted. Check that it is complete, or ask whoever runs the service for another
            one.
          </p>
        ) : null}
        <label class="labelled">
          <span>API key</span>
          <input
            autofocus
            type="password"
            autocomplete="current-password"
            required
            value={key}
            onInput={({ currentTarget }) => setKey(currentTarget.value)}
          />
          <small>The value of SVC_API_KEY, or a key made with hearth key add.</small>
        </label>
        <label class="inline">
          <input
            type="checkbox"
            checked={isKept}
            onChange={({ currentTarget }) => setKept(currentTarget.checked)}
          />
          <span>Remember it in this browser (otherwise only until this tab closes)</span>
        </label>
        <button type="submit" class="main">
          Unlock
        </button>
      </form>
    </Dialog>
  );
}
