import type { IconNode } from 'lucide';
import type { ComponentChildren, ButtonHTMLAttributes } from 'preact';

export function Icon({ of }: { of: IconNode }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      {of.map(([Tag, attributes], at) => {
        const Shape = Tag as 'path';
        return <Shape key={at} {...attributes} />;
      })}
    </svg>
  );
}

interface Facts {
  readonly icon: IconNode;
  readonly name: string;
  readonly onClick: () => void;
  readonly disabled?: boolean;
  /** Shown with the icon; absent: the name is a tooltip. */
  readonly words?: ComponentChildren;
  readonly isOpen?: boolean;
  readonly isPressed?: boolean;
  readonly class?: string;
  /** Reached by the arrow keys of its list, not by Tab. */
  readonly isInRow?: boolean;
}

export function IconButton({ icon, name, onClick, words, isOpen, isPressed, isInRow, ...rest }: Facts) {
  const state: ButtonHTMLAttributes = {
    ...(isOpen === undefined ? {} : { 'aria-expanded': isOpen }),
    ...(isPressed === undefined ? {} : { 'aria-pressed': isPressed }),
    ...(isInRow === true ? { tabIndex: -1 } : {}),
  };
  return (
    <button
      type="button"
      {...state}
      disabled={rest.disabled === true}
      class={`quiet icon-button ${rest.class ?? ''}`}
      aria-label={name}
      title={name}
      onClick={onClick}
    >
      <Icon of={icon} />
      {words === undefined ? null : <span class="words">{words}</span>}
    </button>
  );
}
