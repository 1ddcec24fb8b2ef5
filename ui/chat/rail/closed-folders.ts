import { signal } from '@preact/signals';
import { readStoredTexts, store } from '../../parts/stored.ts';

const NAME = 'hearth.closed-folders';

export const closedFolders = signal<ReadonlySet<string>>(new Set(readStoredTexts(NAME)));

export function setFolderOpen(name: string, isOpen: boolean): void {
  if (isOpen !== closedFolders.value.has(name)) return;
  const closed = [...closedFolders.value].filter((each) => each !== name);
  closedFolders.value = new Set(isOpen ? closed : [...closed, name]);
  store(NAME, JSON.stringify([...closedFolders.value]));
}
