/** One Escape closes one thing: the last one opened. */
import { useLayoutEffect } from 'preact/hooks';

const open: { readonly close: () => void }[] = [];

addEventListener('keydown', (event) => {
  if (event.key !== 'Escape' || event.defaultPrevented || event.isComposing) return;
  // The browser closes it itself.
  if (document.querySelector('dialog[open]') !== null) return;
  open.at(-1)?.close();
});

/** Calls back for Escape unless something opened later. */
export function useEscape(isOpen: boolean, close: () => void): void {
  useEntry(isOpen, close, (entry) => open.push(entry));
}

/** Calls back for Escape while nothing is open. */
export function useLastEscape(act: () => void): void {
  useEntry(true, act, (entry) => open.unshift(entry));
}

// An effect would run a frame later than what it opened, after a fast key.
function useEntry(isOpen: boolean, close: () => void, add: (entry: { close: () => void }) => void): void {
  useLayoutEffect(() => {
    if (!isOpen) return;
    const entry = { close };
    add(entry);
    return () => void open.splice(open.indexOf(entry), 1);
  }, [isOpen]);
}
