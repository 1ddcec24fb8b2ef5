/** One Escape closes one thing: what was opened last. */
import { useLayoutEffect } from 'preact/hooks';

const open: { readonly close: () => void }[] = [];

addEventListener('keydown', (event) => {
  if (event.key !== 'Escape' || event.defaultPrevented || event.isComposing) return;
  // The browser closes it itself.
  if (document.querySelector('dialog[open]') !== null) return;
  open.at(-1)?.close();
});

/** Calls back for Escape while nothing that was opened later is there. */
export function useEscape(isOpen: boolean, close: () => void): void {
  useEntry(isOpen, close, (entry) => open.push(entry));
}

/** Calls back for Escape while nothing is open. */
export function useLastEscape(act: () => void): void {
  useEntry(true, act, (entry) => open.unshift(entry));
}

// A layout effect is there with what it opened; an effect would come a frame later, and a fast key before it.
function useEntry(isOpen: boolean, close: () => void, add: (entry: { close: () => void }) => void): void {
  useLayoutEffect(() => {
    if (!isOpen) return;
    const entry = { close };
    add(entry);
    return () => void open.splice(open.indexOf(entry), 1);
  }, [isOpen]);
}
