/** Parts of the chat that are open next to the conversation, and the field for messages. */
import { signal } from '@preact/signals';

export const aside = signal<'none' | 'settings'>('none');
export const isCodeOpen = signal(false);
export const isHelpOpen = signal(false);
/** The answer whose differences from others are shown, by its id; null: none. */
export const comparedEntry = signal<string | null>(null);

export const MESSAGE_FIELD = 'message';
export const focusMessage = (): void => document.getElementById(MESSAGE_FIELD)?.focus();
