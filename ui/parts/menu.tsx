import type { IconNode } from 'lucide';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useEscape } from './escape.ts';
import { Icon, IconButton } from './icon.tsx';

export interface MenuItem {
  readonly name: string;
  readonly icon?: IconNode;
  readonly onClick: () => void;
}

interface Facts {
  readonly icon: IconNode;
  readonly name: string;
  readonly items: readonly MenuItem[];
  readonly isInRow?: boolean;
}

export function Menu({ icon, name, items, isInRow = false }: Facts) {
  const [isOpen, setOpen] = useState(false);
  const place = useRef<HTMLDivElement>(null);
  const close = () => {
    setOpen(false);
    place.current?.querySelector('button')?.focus();
  };
  useEscape(isOpen, close);
  // Before the first frame, so that no key is lost.
  useLayoutEffect(() => {
    if (isOpen) place.current?.querySelector<HTMLElement>('[role=menuitem]')?.focus();
  }, [isOpen]);
  const leave = (event: FocusEvent) => {
    if (!place.current?.contains(event.relatedTarget as Node | null)) setOpen(false);
  };
  return (
    <div class="menu" ref={place} onFocusOut={leave}>
      <IconButton
        icon={icon}
        name={name}
        isOpen={isOpen}
        isInRow={isInRow}
        onClick={() => setOpen(!isOpen)}
      />
      {isOpen ? (
        <ul role="menu" aria-label={name} onKeyDown={moveFocus}>
          {items.map((item) => (
            <li key={item.name} role="none">
              <button
                type="button"
                role="menuitem"
                class="quiet"
                onClick={() => {
                  close();
                  item.onClick();
                }}
              >
                {item.icon === undefined ? null : <Icon of={item.icon} />}
                {item.name}
              </button>
            </li>
          ))}
        </ul>
      ) : null}
    </div>
  );
}

function moveFocus(event: KeyboardEvent & { readonly currentTarget: HTMLElement }): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined) return;
  event.preventDefault();
  const all = [...event.currentTarget.querySelectorAll<HTMLElement>('[role=menuitem]')];
  const at = all.indexOf(document.activeElement as HTMLElement);
  all[(at + step + all.length) % all.length]?.focus();
}
