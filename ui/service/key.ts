/** The API key: kept for this tab, or in this browser if the user chooses so. */
import { readStored, store } from '../parts/stored.ts';

const NAME = 'hearth.key';

export const storedKey = (): string | null => readStored(NAME, 'tab closed') ?? readStored(NAME);

export function storeKey(key: string, isKept: boolean): void {
  forgetKey();
  store(NAME, key, isKept ? 'removed' : 'tab closed');
}

export function forgetKey(): void {
  store(NAME, null, 'tab closed');
  store(NAME, null);
}
