import { X } from 'lucide';
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { IconButton } from './icon.tsx';

/**
 * The browser's own dialog: it keeps the focus inside, closes by Escape, and restores the focus. Reports its end at
 * once, because the browser does so in a later task and a press that opens it again would be lost until then.
 */
export function Dialog({
  title,
  onClose,
  children,
}: {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
}) {
  const element = useRef<HTMLDialogElement>(null);
  const isOver = useRef(false);
  const end = () => {
    if (isOver.current) return;
    isOver.current = true;
    onClose();
  };
  useLayoutEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    return () => {
      isOver.current = true;
      dialog?.close();
    };
  }, []);
  return (
    <dialog ref={element} onCancel={end} onClose={end} aria-label={title}>
      <header>
        <h2>{title}</h2>
        <IconButton icon={X} name="Close" onClick={end} />
      </header>
      {children}
    </dialog>
  );
}
