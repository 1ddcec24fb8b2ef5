/** Id of this tab, which survives a reload. A lock shows other tabs that it is open. */
import { signal } from '@preact/signals';
import { freshId } from './fresh-id.ts';
import { readStored, store } from './stored.ts';

const NAME = 'hearth.tab';
const LOCK = 'hearth.tab.';

export const tabId = signal(readStored(NAME, 'tab closed') ?? freshId());

/** A duplicated tab begins with the original's id and takes another. */
export async function holdTab(): Promise<void> {
  if (!(await hold(tabId.peek()))) {
    tabId.value = freshId();
    void hold(tabId.peek());
  }
  store(NAME, tabId.peek(), 'tab closed');
}

function hold(id: string): Promise<boolean> {
  if (navigator.locks === undefined) return Promise.resolve(true);
  return new Promise((resolve, reject) => {
    navigator.locks
      .request(LOCK + id, { ifAvailable: true }, (lock) => {
        resolve(lock !== null);
        return lock === null ? undefined : new Promise<never>(() => undefined);
      })
      .catch(reject);
  });
}

export async function openTabs(): Promise<ReadonlySet<string> | null> {
  if (navigator.locks === undefined) return null;
  const { held = [] } = await navigator.locks.query();
  return new Set(held.flatMap(({ name = '' }) => (name.startsWith(LOCK) ? [name.slice(LOCK.length)] : [])));
}
