/**
 * Turns of the event loop for sliced work, given to one waiter at a time, in order: a hundred documents parsed
 * concurrently delay a request no more than one.
 */
const waiting: (() => void)[] = [];

export function ownTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(giveTurn);
  });
}

function giveTurn(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(giveTurn);
}
