/**
 * Turns of the event loop for work that is done in slices. Each is given to one of those who wait, in order: a hundred
 * documents that are read at the same time hold up a request no longer than one does.
 */
const waiting: (() => void)[] = [];

export function ownTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(giveTurn);
  });
}

/** Work of the receiver until it waits again finishes before the next turn is given. */
function giveTurn(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(giveTurn);
}
