import { useLayoutEffect } from 'preact/hooks';
import { aside, focusMessage, isHelpOpen } from '../chat/at-hand.ts';
import { isSearchOpen } from '../chat/rail/search-dialog.tsx';
import { lastAnswer } from '../chat/talk/conversations.ts';
import { Dialog } from '../parts/dialog.tsx';
import { beginAnywhere } from './rail.tsx';

interface Shortcut {
  /** For display; the last word is the key. */
  readonly keys: string;
  readonly words: string;
  readonly act?: () => void;
}

const SHORTCUTS: readonly Shortcut[] = [
  { keys: 'Enter', words: 'send the message' },
  { keys: 'Shift Enter', words: 'begin a line' },
  { keys: 'ArrowUp', words: 'in an empty message: the last one again' },
  { keys: '← →', words: 'in the list of conversations: rename, remove and more' },
  { keys: 'Escape', words: 'close what is open, else stop the answer' },
  { keys: 'Ctrl k', words: 'search conversations', act: () => (isSearchOpen.value = true) },
  { keys: 'Ctrl Shift o', words: 'new conversation', act: beginAnywhere },
  {
    keys: 'Ctrl ,',
    words: 'settings of the conversation',
    act: () => (aside.value = aside.value === 'settings' ? 'none' : 'settings'),
  },
  { keys: 'Ctrl Shift ;', words: 'copy the last answer', act: () => void copyLast() },
  { keys: '/', words: 'write a message', act: focusMessage },
  { keys: '?', words: 'this list', act: () => (isHelpOpen.value = true) },
];

/** Keys that also type a character are ignored in text fields. */
export function useShortcuts(): void {
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || document.querySelector('dialog[open]') !== null) return;
      const shortcut = SHORTCUTS.find((each) => each.act !== undefined && isPressed(each.keys, event));
      if (shortcut === undefined) return;
      event.preventDefault();
      shortcut.act?.();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}

function isPressed(keys: string, event: KeyboardEvent): boolean {
  const parts = keys.split(' ');
  const key = parts.at(-1);
  const isControl = event.ctrlKey || event.metaKey;
  const wantsControl = parts.includes('Ctrl');
  if (wantsControl !== isControl || event.altKey) return false;
  if (!wantsControl) return event.key === key && !isWriting(event.target);
  const pressed = [event.key.toLowerCase(), KEYS[event.code]];
  return parts.includes('Shift') === event.shiftKey && pressed.includes(key);
}

/** With Shift, this key gives another character. */
const KEYS: Readonly<Record<string, string>> = { Semicolon: ';', Comma: ',' };

const isWriting = (target: EventTarget | null): boolean =>
  target instanceof Element && target.matches('input, textarea, select, [contenteditable]');

const copyLast = async (): Promise<void> => {
  const text = lastAnswer();
  if (text !== null) await navigator.clipboard?.writeText(text).catch(() => undefined);
};

export function ShortcutHelp() {
  return (
    <Dialog title="Keyboard shortcuts" onClose={() => (isHelpOpen.value = false)}>
      <dl class="shortcuts">
        {SHORTCUTS.map(({ keys, words }) => (
          <div key={keys}>
            <dt>
              {keys.split(' ').map((key) => (
                <kbd key={key}>{NAMES[key] ?? (key.length === 1 ? key.toUpperCase() : key)}</kbd>
              ))}
            </dt>
            <dd>{words}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}

const NAMES: Readonly<Record<string, string>> = { ArrowUp: '↑' };
