import { X } from 'lucide';
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { IconButton } from './icon.tsx';

/**
 * The browser's own dialog: it keeps the focus inside, closes by Escape, and gives the focus back. The browser reports its
 * end in a later task; until then a press that opens it again would be lost, so the end is told at once.
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
