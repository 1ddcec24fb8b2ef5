/** Folders whose conversations are not listed, by name, kept in this browser. */
import { signal } from '@preact/signals';

const NAME = 'hearth.closed-folders';

export const closedFolders = signal<ReadonlySet<string>>(read());

export function setFolderOpen(name: string, isOpen: boolean): void {
  if (isOpen !== closedFolders.value.has(name)) return;
  const closed = [...closedFolders.value].filter((each) => each !== name);
  closedFolders.value = new Set(isOpen ? closed : [...closed, name]);
  try {
    localStorage.setItem(NAME, JSON.stringify([...closedFolders.value]));
  } catch {
    // Where the storage is full or closed, all are open again on the next visit.
  }
}

function read(): ReadonlySet<string> {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(NAME) ?? '[]');
    return new Set(Array.isArray(stored) ? stored.filter((each) => typeof each === 'string') : []);
  } catch {
    return new Set();
  }
}
