/**
 * Files of unsent messages in this browser. Every write merges with the stored state in one transaction, so that tabs
 * that attach at the same time lose nothing.
 */
import { createStore, entries } from 'idb-keyval';

interface Stored {
  readonly id: string;
}

const store = createStore('hearth-drafts', 'files');

export async function loadDraftFiles<File extends Stored>(): Promise<Record<string, readonly File[]>> {
  return Object.fromEntries(await entries<string, readonly File[]>(store).catch(() => []));
}

export function keepDraftFiles<File extends Stored>(
  draft: string,
  files: readonly File[],
  gone: readonly string[],
): Promise<void> {
  return store(
    'readwrite',
    (all) =>
      new Promise<void>((resolve, reject) => {
        const { transaction } = all;
        transaction.addEventListener('complete', () => resolve());
        transaction.addEventListener('abort', () => reject(transaction.error ?? new Error('not stored')));
        const reading = all.get(draft);
        reading.addEventListener('success', () => {
          try {
            const merged = mergedFiles((reading.result ?? []) as readonly File[], files, gone);
            if (merged.length === 0) all.delete(draft);
            else all.put(merged, draft);
          } catch (error) {
            reject(error);
          }
        });
      }),
  );
}

/** Keeps files that only one side has; of two versions, mine is newer. */
export function mergedFiles<File extends Stored>(
  stored: readonly File[],
  mine: readonly File[],
  gone: readonly string[] = [],
): File[] {
  const known = new Set(stored.map(({ id }) => id));
  return [
    ...stored
      .filter(({ id }) => !gone.includes(id))
      .map((file) => mine.find(({ id }) => id === file.id) ?? file),
    ...mine.filter(({ id }) => !known.has(id)),
  ];
}
