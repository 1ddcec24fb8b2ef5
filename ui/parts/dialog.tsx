import { X } from 'lucide';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { useEscape } from './escape.ts';
import { IconButton } from './icon.tsx';

/** The browser's own dialog: it keeps the focus inside, closes by Escape, and gives the focus back. */
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
  useEffect(() => element.current?.showModal(), []);
  // The browser closes it; nothing below it may take the key.
  useEscape(true, () => undefined);
  return (
    <dialog ref={element} onClose={onClose} aria-label={title}>
      <header>
        <h2>{title}</h2>
        <IconButton icon={X} name="Close" onClick={() => element.current?.close()} />
      </header>
      {children}
    </dialog>
  );
}
