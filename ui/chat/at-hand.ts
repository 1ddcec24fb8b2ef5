import { signal } from '@preact/signals';

export const aside = signal<'none' | 'settings'>('none');
export const isCodeOpen = signal(false);
export const isHelpOpen = signal(false);
export const comparedEntry = signal<string | null>(null);

export const MESSAGE_FIELD = 'message';
export const focusMessage = (): void => document.getElementById(MESSAGE_FIELD)?.focus();
