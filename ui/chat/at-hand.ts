/** What of the chat is open beside the conversation, and where its user writes. */
import { signal } from '@preact/signals';

export const aside = signal<'none' | 'settings'>('none');
export const isCodeOpen = signal(false);
/** The answer whose differences from others are shown, by its id; null: none. */
export const comparedEntry = signal<string | null>(null);

export const MESSAGE_FIELD = 'message';
export const focusMessage = (): void => document.getElementById(MESSAGE_FIELD)?.focus();
