/** One Escape closes one thing: what was opened last. */
import { useEffect } from 'preact/hooks';

const open: { readonly close: () => void }[] = [];

addEventListener('keydown', (event) => {
  if (event.key !== 'Escape' || event.defaultPrevented || event.isComposing) return;
  open.at(-1)?.close();
});

/** Calls back for Escape while nothing that was opened later is there. */
export function useEscape(isOpen: boolean, close: () => void): void {
  useEffect(() => {
    if (!isOpen) return;
    const entry = { close };
    open.push(entry);
    return () => void open.splice(open.indexOf(entry), 1);
  }, [isOpen]);
}
